import { kbIdentity, kbIdentityCreate, kbIdentityQuery, kbIdentityUpdate } from "@gatehouse/contracts/kb-identities";
import { kbIdentities } from "../../../directory/knowledge/kb-identities.ts";
import type { AdminOperation } from "../operation.ts";
import { resource } from "../resource.ts";

export const kbIdentityOperations: readonly AdminOperation[] = resource({
  path: "/v1/admin/kb-identities",
  key: "mappings",
  noun: "identity mapping",
  article: "an",
  tag: "Knowledge bases",
  area: "users",
  table: "kb_identities",
  records: kbIdentities,
  query: kbIdentityQuery,
  create: kbIdentityCreate,
  update: kbIdentityUpdate,
  read: kbIdentity,
  notes: {
    create: "The end user finds, in knowledge bases of their groups, what that source lets this identity read.",
    remove: "From the next search on, the end user no longer finds what the identity let them.",
  },
});
