import type { Refusal } from "../../kernel/errors.ts";
import type { Outbound } from "../../runtime/outbound.ts";
import { type AddressRequest, addressSend } from "../address-send.ts";

/** Sends requests to agents and push notification receivers. Never throws for network errors or anything the other side did. */
export type AgentSend = (request: AddressRequest) => Promise<Response | Refusal>;

export const agentSend = (outbound: Outbound): AgentSend => addressSend(outbound, "The agent");
