import { objectInJson } from "../../kernel/json-value.ts";
import type { RecordedCall } from "../../store/assurance/replay.ts";
import { type ReplayFormat, recordedFormatOf } from "./recorded-format.ts";

/** A recorded call's request, in a form that can be replayed. */
export type RecordedRequest =
  | { readonly kind: "model"; readonly format: ReplayFormat; readonly model: string; readonly body: Readonly<Record<string, unknown>> }
  | {
      readonly kind: "tool";
      readonly serverId: string;
      readonly tool: string;
      readonly protocolVersion: string | null;
      /** The message as JSON text. */
      readonly body: string;
    };

/**
 * The request of an audit row, in the format last sent upstream; null if it cannot be replayed: only its beginning was
 * kept, its kind is not replayed, or no surface speaks its format.
 */
export function recordedRequest(row: RecordedCall): RecordedRequest | null {
  const body = parsed(row.request_body_preview);
  if (body === null) return null;
  if (row.proxy_type === "mcp") {
    const { server_id: serverId, mcp_capability_name: tool } = row;
    if (serverId === null || tool === null || row.mcp_method !== "tools/call" || body.method !== "tools/call") return null;
    return { kind: "tool", serverId, tool, protocolVersion: row.protocol_version, body: row.request_body_preview as string };
  }
  const model = row.llm_model_requested ?? row.llm_model_used;
  const format = recordedFormatOf(row, body);
  return model === null || format === null ? null : { kind: "model", format, model, body };
}

function parsed(text: string | null): Readonly<Record<string, unknown>> | null {
  if (text === null) return null;
  return objectInJson(text);
}
