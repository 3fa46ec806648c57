import { MODEL_KINDS } from "./model-kinds.ts";
import { KNOWLEDGE_KINDS } from "./knowledge-kinds.ts";
import { TOOL_KINDS } from "./tool-kinds.ts";
import { BOUND_KINDS } from "./bound-kinds.ts";
import { ASSURANCE_KINDS } from "./assurance-kinds.ts";
import { ORGANIZATION_KINDS } from "./organization-kinds.ts";
import { PEOPLE_KINDS } from "./people-kinds.ts";
import type { RecordKind } from "./record-kind.ts";

/** Every kind of record with pages in the console, in navigation order. */
export const RECORD_KINDS: readonly RecordKind[] = [
  ...MODEL_KINDS,
  ...TOOL_KINDS,
  ...KNOWLEDGE_KINDS,
  ...BOUND_KINDS,
  ...ASSURANCE_KINDS,
  ...ORGANIZATION_KINDS,
  ...PEOPLE_KINDS,
];

export function recordKind(slug: string | undefined): RecordKind | undefined {
  return RECORD_KINDS.find((kind) => kind.slug === slug);
}
