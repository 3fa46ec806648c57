/**
 * Members whose values are the protocol's own words, bytes, times, or what a program gave out and gets back as it is: one of them is
 * looked at where it has words in it.
 */
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
/** Where something is: it is read as whoever goes there decodes it. */
export const ADDRESS_MEMBERS = new Set(["uri", "url", "uriTemplate", "websiteUrl", "src", "resourceUri", "resourceSubscriptions"]);
/** Members whose own members are named by whoever writes the message, be it by one of those names. */
export const NAMED_MEMBERS = new Set(["properties", "$defs", "inputRequests", "inputResponses"]);
/** What a tool gives as data of its own: there a name or a whole number may say as much as a text. */
export const FREE_MEMBER = "structuredContent";
/** Where the protocol has room for data of any kind: what is logged, and what is told of an error. */
export const FREE_DATA_OF = new Set(["params", "error"]);
/** Names that whoever wrote a protocol may have given, those of extensions included. */
export const MEMBER_NAME = /^[\w.$:/-]{1,128}$/;
/** What a program says of itself. */
export const ASIDE_MEMBERS = new Set(["_meta", "annotations", "icons", "serverInfo", "clientInfo", "capabilities"]);
