import { codeOf, isTest, type SourceFile } from "../source-imports.ts";

/** What asks an upstream that somebody's call may want something done by. */
const ASKS = /\b(?:ToolServerSend|AgentSend|AgentUpstream|agentUpstream|toolServerSend|agentSend|addressSend)\b/;
/** Handed out for one call, behind its gates (`road/outlet.ts`). */
const HANDED_OUT = /\b(?:Outlet|Passage)<\w+>/g;
/** Such an import does nothing by itself; one that gives what it brings another name would hide what becomes of it. */
const NAMED_AS_IT_IS = /^import (?![^;]*\bas\b)[^;]*;/gm;

/**
 * What no call asks for: how the service is opened, discovery, tokens and issuers, the ends of sessions, and agents that are listened to or
 * told for a task that was let in before. Whoever answers calls is not among them.
 */
const FOR_NO_CALL = [
  /^server\/services\/agents\/(?:agent-service|card-trust|discover-card|push-deliveries|task-watches)\.ts$/,
  /^server\/services\/tools\/(?:tool-service-options|definitions\/discovery|sessions\/end-sessions)\.ts$/,
  /^server\/services\/tools\/authorization\//,
];

/** Files of services that hold tool servers or agents themselves, in the place of an outlet to them. */
export function reachedAroundGates(files: readonly SourceFile[]): string[] {
  return files
    .filter(({ path }) => path.startsWith("server/services/") && !isTest(path) && !FOR_NO_CALL.some((known) => known.test(path)))
    .filter(({ source }) => ASKS.test(codeOf(source).code.replace(NAMED_AS_IT_IS, "").replaceAll(HANDED_OUT, "")))
    .map(({ path }) => `${path}: holds what asks an upstream; a call is handed it by an outlet, behind its gates`);
}
