import type { VirtualServer, VirtualServerCreate, VirtualServerQuery, VirtualServerUpdate } from "@gatehouse/contracts/virtual-servers";
import { ulid } from "../../kernel/ids.ts";
import { knownMcpServers } from "../../store/mcp-servers.ts";
import {
  virtualServerNamed,
  virtualServerStore,
  type VirtualServerInsert,
  type VirtualServerPatch,
  type VirtualServerRow,
} from "../../store/virtual-servers.ts";
import { invalidField, records } from "../writes/records.ts";
import type { Write } from "../writes/write.ts";
import { checkGroups } from "../policies/bound-groups.ts";

const SLUG_LENGTH = 24;

function read(row: VirtualServerRow): VirtualServer {
  const { created_at: createdAt, updated_at: updatedAt, ...same } = row;
  return { ...same, dialect: "dual", created_at: createdAt.toISOString(), updated_at: updatedAt.toISOString() };
}

/** A server's name as a slug; two names may give the same. */
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

/** Undefined when the body names no members. */
async function membersOf(write: Write, tenantId: string, body: Body): Promise<{ mcp_server_id: string; slug: string }[] | undefined> {
  if (body.members !== undefined && body.mcp_server_ids !== undefined) throw invalidField("mcp_server_ids", "does not go with members");
  const given = body.members ?? body.mcp_server_ids?.map((id) => ({ mcp_server_id: id, slug: undefined }));
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
  const servers = new Set<string>();
  return given.map(({ mcp_server_id: id, slug }) => {
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
  twin: (write, tenantId, candidate) => virtualServerNamed(write.trx, tenantId, candidate.name),
  async toInsert(write, tenantId, body) {
    await checkGroups(write, tenantId, body.group_ids, null);
    const members = await membersOf(write, tenantId, body);
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
    const members = await membersOf(write, tenantId, body);
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
