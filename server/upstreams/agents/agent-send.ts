import type { Refusal } from "../../kernel/errors.ts";
import type { Outbound } from "../../runtime/outbound.ts";
import { type AddressRequest, addressSend } from "../address-send.ts";

/** The way out to agents and to whoever is told of their tasks. Never throws for what the network or the other side did. */
export type AgentSend = (request: AddressRequest) => Promise<Response | Refusal>;

export const agentSend = (outbound: Outbound): AgentSend => addressSend(outbound, "The agent");
