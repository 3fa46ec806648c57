/** Members whose values are keywords, bytes, times, or opaque tokens returned to their issuer; inspected only if they contain words. */
export const PLAIN_MEMBERS = new Set([
  "jsonrpc",
  "id",
  "type",
  "role",
  "method",
  "mode",
  "mimeType",
  "format",
  "data",
  "blob",
  "resultType",
  "requestState",
  "taskId",
  "status",
  "level",
  "createdAt",
  "lastUpdatedAt",
  "lastModified",
  "cacheScope",
  "nextCursor",
  "progressToken",
  "elicitationId",
  "toolUseId",
  "protocolVersion",
  "supportedVersions",
  "audience",
  "theme",
  "sizes",
  "io.modelcontextprotocol/protocolVersion",
  "io.modelcontextprotocol/subscriptionId",
  "traceparent",
  "tracestate",
]);
/** Members that hold URIs, which are inspected in decoded form. */
export const ADDRESS_MEMBERS = new Set(["uri", "url", "uriTemplate", "websiteUrl", "src", "resourceUri", "resourceSubscriptions"]);
/** Members with free-form keys, which may coincide with the protocol's names. */
export const NAMED_MEMBERS = new Set(["properties", "$defs", "inputRequests", "inputResponses"]);
/** Tool output as free-form data, in which names and integers may be as sensitive as texts. */
export const FREE_MEMBER = "structuredContent";
/** The parents in which `data` is free-form: log messages and errors. */
export const FREE_DATA_OF = new Set(["params", "error"]);
/** Names of the form used by protocols and their extensions. */
export const MEMBER_NAME = /^[\w.$:/-]{1,128}$/;
/** Metadata of programs. */
export const ASIDE_MEMBERS = new Set(["_meta", "annotations", "icons", "serverInfo", "clientInfo", "capabilities"]);
