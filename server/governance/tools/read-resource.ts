import { type Refusal, refuse } from "../../kernel/errors.ts";
import { isObject } from "../../wire/document.ts";
import { capabilityOf } from "../../wire/mcp/capability.ts";
import { META, STATELESS_VERSION } from "../../wire/mcp/dialect.ts";
import { isRpcProblem, readRpc } from "../../wire/mcp/rpc.ts";
import { concat, frameData } from "../../wire/sse-frames.ts";
import type { Call } from "../call.ts";
import type { Dispatch } from "../routing/dispatch.ts";
import { type Answer, isRefusal } from "../surface.ts";
import type { ToolRequest } from "./tool-request.ts";

const ID = "portal";
const NOT_FOUND = new Set([-32002, -32602]);

/** One resource of a tool server, as its own answer gave it. */
export interface ReadResource {
  readonly uri: string;
  readonly mimeType: string | null;
  /** Text, or base64 where the server sent a blob. */
  readonly content: string;
  readonly sizeBytes: number;
}

/** The request a portal makes of a tool server on behalf of a page, as if a client had sent it. */
export function resourceRequest(serverId: string, uri: string): ToolRequest {
  const params = { uri, _meta: { [META.version]: STATELESS_VERSION, [META.capabilities]: {} } };
  const body = new TextEncoder().encode(JSON.stringify({ jsonrpc: "2.0", id: ID, method: "resources/read", params }));
  const message = readRpc(body);
  const capability = capabilityOf("resources/read", params);
  if (isRpcProblem(message) || typeof capability === "string") throw new Error("the portal wrote a message that is none");
  return { target: { kind: "server", id: serverId }, subPath: null, message, body, envelope: { version: STATELESS_VERSION, capabilities: {}, clientInfo: null, logLevel: null }, capability };
}

/** Sends it the way every call to a tool server goes. The call must have passed the controls with the request's view. */
export async function readResource(call: Call, dispatch: Dispatch, request: ToolRequest): Promise<ReadResource | Refusal> {
  // What leaves is a POST of the protocol, whatever brought the caller here.
  const outward = new Request(call.request.url, { method: "POST", headers: { ...Object.fromEntries(call.request.headers), accept: "application/json, text/event-stream", "content-type": "application/json" } });
  call.row.mcp_method = "resources/read";
  call.row.mcp_capability_name = request.capability?.name.slice(0, 1000) ?? null;
  const answer = await dispatch.tools(Object.assign(Object.create(call) as Call, { request: outward }), request);
  if (isRefusal(answer)) return answer;
  const text = answer.kind === "whole" ? new TextDecoder().decode(answer.body) : await textOf(answer);
  return resourceOf(messageIn(text));
}

async function textOf({ head, upstream, codec }: Answer & { kind: "stream" }): Promise<string> {
  const pieces = [...head];
  for (;;) {
    const { done, value } = await upstream.read();
    if (done) break;
    const piece = codec.push(value);
    if (piece !== null) pieces.push(piece);
  }
  const { last } = codec.end();
  if (last !== null) pieces.push(last);
  return new TextDecoder().decode(concat(pieces));
}

/** The message with the result or error: the body itself, or the last of an event stream's. */
function messageIn(text: string): Record<string, unknown> | null {
  const frames = text.trimStart().startsWith("{") ? [text] : text.split(/\r?\n\r?\n/).map((frame) => frameData(frame) ?? "");
  for (const frame of frames.toReversed()) {
    try {
      const value: unknown = JSON.parse(frame);
      if (isObject(value) && (value.result !== undefined || value.error !== undefined)) return value;
    } catch {
      // A frame without a message.
    }
  }
  return null;
}

function resourceOf(message: Record<string, unknown> | null): ReadResource | Refusal {
  if (message !== null && isObject(message.error)) return NOT_FOUND.has(message.error.code as number) ? refuse("not_found", "The tool server has no such resource.") : refuse("upstream_error", "The tool server failed to read the resource.");
  const contents = isObject(message?.result) ? message.result.contents : undefined;
  const first: unknown = Array.isArray(contents) ? contents[0] : undefined;
  if (!isObject(first) || typeof first.uri !== "string") return refuse("upstream_invalid_response");
  const { uri, mimeType, text, blob } = first;
  const content = typeof text === "string" ? text : typeof blob === "string" ? blob : null;
  if (content === null) return refuse("upstream_invalid_response");
  return { uri, mimeType: typeof mimeType === "string" ? mimeType : null, content, sizeBytes: typeof text === "string" ? Buffer.byteLength(content) : Buffer.from(content, "base64").byteLength };
}
