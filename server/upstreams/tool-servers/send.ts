import type { Refusal } from "../../kernel/errors.ts";
import type { Outbound } from "../../runtime/outbound.ts";
import { type AddressRequest, addressSend } from "../address-send.ts";

export interface ToolServerRequest extends AddressRequest {
  /** Whose request it is, where it is made for one of several. */
  readonly tenantId?: string | undefined;
}

/** The way out to tool servers. Never throws for what the network or the server did. */
export type ToolServerSend = (request: ToolServerRequest) => Promise<Response | Refusal>;

export const toolServerSend = (outbound: Outbound): ToolServerSend => addressSend(outbound, "The tool server");
