import { codeOf, isTest, type SourceFile } from "../source-imports.ts";

/** Types and functions that send requests to upstreams on behalf of calls. */
const ASKS = /\b(?:ToolServerSend|AgentSend|AgentUpstream|agentUpstream|toolServerSend|agentSend|addressSend)\b/;
/** Provided for one call, behind its gates (`road/outlet.ts`). */
const HANDED_OUT = /\b(?:Outlet|Passage)<\w+>/g;
/** Imports have no effect by themselves; renaming imports are kept, because they could hide a use. */
const NAMED_AS_IT_IS = /^import (?![^;]*\bas\b)[^;]*;/gm;

/**
 * Files that reach upstreams outside any call: opening a service, discovery, tokens and issuers, ending sessions, and following or pushing
 * tasks admitted earlier. Nothing that answers calls is listed.
 */
const FOR_NO_CALL = [
  /^server\/services\/agents\/(?:agent-service|card-trust|discover-card|push-deliveries|task-watches)\.ts$/,
  /^server\/services\/tools\/(?:tool-service-options|definitions\/discovery|sessions\/end-sessions)\.ts$/,
  /^server\/services\/tools\/authorization\//,
];

/** Files of services that hold tool servers or agents themselves instead of an outlet. */
export function reachedAroundGates(files: readonly SourceFile[]): string[] {
  return files
    .filter(({ path }) => path.startsWith("server/services/") && !isTest(path) && !FOR_NO_CALL.some((known) => known.test(path)))
    .filter(({ source }) => ASKS.test(codeOf(source).code.replace(NAMED_AS_IT_IS, "").replaceAll(HANDED_OUT, "")))
    .map(({ path }) => `${path}: holds what asks an upstream; a call is handed it by an outlet, behind its gates`);
}
