import { ApiError } from "@gatehouse/web-kit/api-error.ts";
import { EventSourceParserStream } from "eventsource-parser/stream";
import { portalApi } from "../portal-client.ts";

export type PlainObject = Readonly<Record<string, unknown>>;
export const isPlainObject = (value: unknown): value is PlainObject => typeof value === "object" && value !== null && !Array.isArray(value);

const VERSION = "2026-07-28";
/** This page displays tool interfaces; it supports no other client feature, such as elicitation. */
const CAPABILITIES = { extensions: { "io.modelcontextprotocol/ui": { mimeTypes: ["text/html;profile=mcp-app"] } } };

interface McpRequest {
  readonly serverId: string;
  readonly method: "tools/list" | "tools/call" | "resources/read";
  readonly params?: PlainObject;
  /** The arguments of a call as JSON, sent unchanged. */
  readonly argumentsText?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/** The value of the `mcp-name` header; null for requests without a name. */
const nameOf = ({ name, uri }: PlainObject) => (typeof name === "string" ? name : typeof uri === "string" ? uri : null);

/** Header values must be ASCII; others are encoded as the protocol specifies. */
function headerText(text: string): string {
  if (/^[\x21-\x7e]+$/.test(text) && !text.startsWith("=?")) return text;
  return `=?base64?${btoa(String.fromCharCode(...new TextEncoder().encode(text)))}?=`;
}

function paramsText(params: PlainObject, argumentsText: string | undefined): string {
  const text = JSON.stringify({
    ...params,
    _meta: {
      "io.modelcontextprotocol/protocolVersion": VERSION,
      "io.modelcontextprotocol/clientInfo": { name: "gatehouse-portal", version: "1" },
      "io.modelcontextprotocol/clientCapabilities": CAPABILITIES,
    },
  });
  return argumentsText === undefined ? text : `{"arguments":${argumentsText},${text.slice(1)}`;
}

/** Calls a tool server through the gateway like any client. Throws `ApiError` for refusals and protocol errors. */
export async function mcpRequest({ serverId, method, params = {}, argumentsText, headers = {}, signal }: McpRequest): Promise<PlainObject> {
  const name = nameOf(params);
  const response = await portalApi.send(`/v1/proxy/mcp/${encodeURIComponent(serverId)}`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": VERSION,
      "mcp-method": method,
      ...(name === null ? {} : { "mcp-name": headerText(name) }),
      ...headers,
    },
    body: `{"jsonrpc":"2.0","id":1,"method":"${method}","params":${paramsText(params, argumentsText)}}`,
    ...(signal === undefined ? {} : { signal }),
  });
  const answer = await answerOf(response);
  if (isPlainObject(answer) && isPlainObject(answer.result)) return answer.result;
  throw new ApiError(response.status, response.headers, answer, "The tool server gave no answer.");
}

/** A stream may report progress first; the answer is the message with a result or an error. */
async function answerOf(response: Response): Promise<unknown> {
  if (response.headers.get("content-type")?.startsWith("text/event-stream") !== true) return response.json();
  const events = response.body?.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream());
  for await (const { data } of events ?? []) {
    const message: unknown = data === "" ? null : JSON.parse(data);
    if (isPlainObject(message) && (message.result !== undefined || message.error !== undefined)) return message;
  }
  return null;
}
