import type { ObjectStore } from "../../runtime/object-store.ts";
import type { Outbound } from "../../runtime/outbound.ts";
import { bucketSource } from "./bucket-source.ts";
import { directorySource, placeBelow } from "./directory-source.ts";
import { gitSource } from "./git-source.ts";
import { remoteGitSource } from "./remote-git-source.ts";
import { type KnowledgeSource, type SourcePlace, SourceUnavailable } from "./source.ts";

export interface SourceParts {
  /** The folder with the tenants' folders; undefined if the operator configured none. */
  readonly root: string | undefined;
  /** The bucket with the tenants' folders; null if the operator configured none. */
  readonly store: ObjectStore | null;
  readonly outbound: Outbound;
}

type OpenPlace = (place: SourcePlace, parts: SourceParts) => KnowledgeSource | Promise<KnowledgeSource>;

/** By `connector_type`. */
const SOURCES: Readonly<Record<string, OpenPlace>> = {
  directory: async (place, parts) => directorySource(await localPlace(place, parts)),
  s3: ({ tenantId, location }, { store }) => {
    if (store === null) throw new SourceUnavailable("This gateway has no GW_KNOWLEDGE_URL, so connectors may read no bucket.");
    return bucketSource(store, tenantId, location);
  },
  git: async (place, parts) =>
    /^https?:/.test(place.location) ? remoteGitSource(parts.outbound, place) : gitSource(await localPlace(place, parts)),
};

function localPlace({ tenantId, location }: SourcePlace, { root }: SourceParts): Promise<string> {
  if (root === undefined) throw new SourceUnavailable("This gateway has no GW_KNOWLEDGE_DIR, so connectors may read nothing.");
  return placeBelow(root, tenantId, location);
}

export function sourceOpener(parts: SourceParts) {
  return async (place: SourcePlace): Promise<KnowledgeSource> => {
    const open = SOURCES[place.connectorType];
    if (open === undefined) throw new SourceUnavailable("There is no such kind of source.");
    return open(place, parts);
  };
}
