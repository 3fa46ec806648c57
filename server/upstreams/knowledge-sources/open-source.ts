import { directorySource, placeBelow } from "./directory-source.ts";
import { gitSource } from "./git-source.ts";
import { type KnowledgeSource, SourceUnavailable } from "./source.ts";

/** By `connector_type`: a new kind of source is a line here. */
const SOURCES: Readonly<Record<string, (place: string) => KnowledgeSource | Promise<KnowledgeSource>>> = {
  directory: directorySource,
  git: gitSource,
};

/** `root`: the folder with the tenants' folders; undefined where the operator has none. */
export function sourceOpener(root: string | undefined) {
  return async (tenantId: string, connectorType: string, location: string): Promise<KnowledgeSource> => {
    if (root === undefined) throw new SourceUnavailable("This gateway has no GW_KNOWLEDGE_DIR, so connectors may read nothing.");
    const open = SOURCES[connectorType];
    if (open === undefined) throw new SourceUnavailable("There is no such kind of source.");
    return open(await placeBelow(root, tenantId, location));
  };
}
