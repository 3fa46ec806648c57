import type { Refusal } from "../../kernel/errors.ts";
import type { Outbound } from "../../runtime/outbound.ts";
import { type AddressRequest, addressSend } from "../address-send.ts";

export interface ToolServerRequest extends AddressRequest {
  /** The tenant that the request is made for, if there is one. */
  readonly tenantId?: string | undefined;
}

/** Sends requests to tool servers. Never throws for network errors or anything the server did. */
export type ToolServerSend = (request: ToolServerRequest) => Promise<Response | Refusal>;

export const toolServerSend = (outbound: Outbound): ToolServerSend => addressSend(outbound, "The tool server");
