import { objectInJson } from "../../kernel/json-value.ts";
import type { RecordedCall } from "../../store/assurance/replay.ts";
import { type ReplayFormat, recordedFormatOf } from "./recorded-format.ts";

/** What a recorded call asked for, as it can be asked again. */
export type RecordedRequest =
  | { readonly kind: "model"; readonly format: ReplayFormat; readonly model: string; readonly body: Readonly<Record<string, unknown>> }
  | {
      readonly kind: "tool";
      readonly serverId: string;
      readonly tool: string;
      readonly protocolVersion: string | null;
      /** JSON text of the message. */
      readonly body: string;
    };

/**
 * The request of a row, in the format of what left the gateway last; null where it cannot be asked again: only its
 * beginning is kept, it is of a kind that is not replayed, or of a format that no surface of ours speaks.
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
