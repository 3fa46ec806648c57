import { isDeepStrictEqual } from "node:util";
import type { VirtualServer, VirtualServerCreate, VirtualServerQuery, VirtualServerUpdate } from "@gatehouse/contracts/virtual-servers";
import { ulid } from "../../kernel/ids.ts";
import { knownMcpServers } from "../../store/tools/mcp-servers.ts";
import {
  virtualServerIdByName,
  virtualServerStore,
  type VirtualServerInsert,
  type VirtualServerPatch,
  type VirtualServerRow,
} from "../../store/tools/virtual-servers.ts";
import { invalidField, records } from "../writes/records.ts";
import type { Write } from "../writes/write.ts";
import { checkGroups } from "../policies/bound-groups.ts";

const SLUG_LENGTH = 24;

function read(row: VirtualServerRow): VirtualServer {
  const { created_at: createdAt, updated_at: updatedAt, ...same } = row;
  return {
    ...same,
    mcp_server_ids: row.members.map((member) => member.mcp_server_id),
    dialect: "dual",
    created_at: createdAt.toISOString(),
    updated_at: updatedAt.toISOString(),
  };
}

/** Derives a slug from a server's name; different names may give the same slug. */
export function slugOf(name: string): string {
  const slug = name
    .normalize("NFKD")
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^[^a-z]+|-+$/g, "")
    .slice(0, SLUG_LENGTH)
    .replaceAll(/-+$/g, "");
  return slug === "" ? "server" : slug;
}

type Body = Pick<VirtualServerUpdate, "members" | "mcp_server_ids">;

interface StoredMember {
  readonly mcp_server_id: string;
  readonly slug: string;
}

/**
 * The members named in a body, in either form. If both forms are given, the one that differs from `before` counts;
 * `before` is null for a new record.
 */
function namedMembers(body: Body, before: readonly StoredMember[] | null) {
  const { members, mcp_server_ids: ids } = body;
  const ofIds = ids?.map((id) => ({ mcp_server_id: id, slug: undefined }));
  if (members === undefined || ids === undefined) return members ?? ofIds;
  const idsOf = (all: readonly { readonly mcp_server_id: string }[]) => all.map((member) => member.mcp_server_id);
  if (isDeepStrictEqual(ids, idsOf(members)) || (before !== null && isDeepStrictEqual(ids, idsOf(before)))) return members;
  if (isDeepStrictEqual(members, before)) return ofIds;
  throw invalidField("mcp_server_ids", "does not go with members");
}

/** Undefined if the body names no members. Existing members keep their slugs. */
async function membersOf(
  write: Write,
  tenantId: string,
  body: Body,
  before: readonly StoredMember[] | null,
): Promise<readonly StoredMember[] | undefined> {
  const given = namedMembers(body, before);
  if (given === undefined) return undefined;
  const field = body.members === undefined ? "mcp_server_ids" : "members";
  const names = await knownMcpServers(
    write.trx,
    tenantId,
    given.map((member) => member.mcp_server_id),
    "lock",
  );
  const chosen = new Set(given.flatMap(({ slug }) => slug ?? []));
  if (chosen.size < given.filter(({ slug }) => slug !== undefined).length) throw invalidField(field, "gives the same slug twice");
  const wanted = given.map(({ mcp_server_id: id, slug }) => {
    const kept = before?.find((member) => member.mcp_server_id === id)?.slug;
    if (slug !== undefined || kept === undefined || chosen.has(kept)) return { id, slug };
    chosen.add(kept);
    return { id, slug: kept };
  });
  const servers = new Set<string>();
  return wanted.map(({ id, slug }) => {
    const name = names.get(id);
    if (name === undefined) throw invalidField(field, `names no tool server of this tenant: ${id}`);
    if (servers.has(id)) throw invalidField(field, `names a server twice: ${id}`);
    servers.add(id);
    return { mcp_server_id: id, slug: slug ?? freeSlug(slugOf(name), chosen) };
  });
}

function freeSlug(wanted: string, taken: Set<string>): string {
  let slug = wanted;
  for (let n = 2; taken.has(slug); n++) slug = `${wanted.slice(0, SLUG_LENGTH - 3)}-${n}`;
  taken.add(slug);
  return slug;
}

export const virtualServers = records<
  VirtualServerRow,
  VirtualServerInsert,
  VirtualServerPatch,
  VirtualServer,
  VirtualServerCreate,
  VirtualServerUpdate,
  VirtualServerQuery,
  string
>({
  resource: "virtual-servers",
  noun: "virtual server",
  store: virtualServerStore,
  read,
  tenantOf: (row) => row.tenant_id,
  takenBy: (write, tenantId, candidate) => virtualServerIdByName(write.trx, tenantId, candidate.name),
  async toInsert(write, tenantId, body) {
    await checkGroups(write, tenantId, body.group_ids, null);
    const members = await membersOf(write, tenantId, body, null);
    return {
      id: `vmcp-${ulid()}`,
      tenant_id: tenantId,
      name: body.name,
      display_name: body.display_name ?? null,
      description: body.description ?? null,
      enabled: body.enabled ?? true,
      members: JSON.stringify(members ?? []),
      group_ids: [...new Set(body.group_ids ?? [])],
      created_at: write.now,
      updated_at: write.now,
    };
  },
  async toPatch(write, tenantId, row, body) {
    await checkGroups(write, tenantId, body.group_ids, row.group_ids);
    const members = await membersOf(write, tenantId, body, row.members);
    const { members: _members, mcp_server_ids: _ids, ...columns } = body;
    return {
      ...columns,
      ...(members === undefined ? {} : { members: JSON.stringify(members) }),
      updated_at: write.now,
    } as VirtualServerPatch;
  },
  dependents: async () => [],
  notify: (write, row) => write.notify(row.tenant_id, "policy"),
});
