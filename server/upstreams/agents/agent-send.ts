import type { Outbound } from "../../runtime/outbound.ts";
import { type AddressSend, addressSend } from "../address-send.ts";

/** Sends requests to agents and push notification receivers. Never throws for network errors or anything the other side did. */
export type AgentSend = AddressSend;

export const agentSend = (outbound: Outbound): AgentSend => addressSend(outbound, "The agent");
