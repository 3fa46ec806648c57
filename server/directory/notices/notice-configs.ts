import { isDeepStrictEqual } from "node:util";
import type { ActionRecord } from "@gatehouse/ledger-format/action-record";
import type { NoticeConfig, NoticeConfigPut, NoticeStatement } from "@gatehouse/contracts/notices";
import { refuse, Refused } from "../../kernel/errors.ts";
import { uuid } from "../../kernel/ids.ts";
import { sha256Hex } from "../../kernel/secrets.ts";
import { noticeBeforeFirstTurn, noticeConfigs, putNoticeConfig, removeNoticeConfig, type NoticeConfigRow } from "../../store/notices.ts";
import { resourceGroupStore } from "../../store/resource-groups.ts";
import { invalidField, notFound } from "../writes/records.ts";
import { sealRecord, systemAlone } from "../writes/sealed-record.ts";
import type { Directory, Write } from "../writes/write.ts";
import { DEFAULT_TEXTS } from "./default-texts.ts";

const RESOURCE = "notice-config";
const MAX_NAMED = 100;

const digestsOf = (texts: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(texts).map(([locale, text]) => [locale, sha256Hex(text)]));

function read(row: NoticeConfigRow | undefined, source: NoticeConfig["source"]): NoticeConfig {
  const own = row === undefined ? {} : row.texts;
  const texts = Object.keys(own).length === 0 ? { ...DEFAULT_TEXTS } : own;
  return {
    ai_system_id: row?.ai_system_id ?? null,
    source,
    enabled: row?.enabled ?? true,
    surface: (row?.surface ?? "both") as NoticeConfig["surface"],
    texts,
    text_digests: digestsOf(texts),
    exemption: row?.exemption ?? null,
    updated_at: row?.updated_at.toISOString() ?? null,
  };
}

/**
 * The configuration in force: the system's, else the tenant's, else the built-in one (interface 6.4). Throws a `not_found`
 * refusal for a system that is not the tenant's.
 */
export async function effectiveNoticeConfig(
  { db }: Pick<Directory, "db">,
  tenantId: string,
  systemId: string | null,
): Promise<NoticeConfig> {
  if (systemId !== null && !(await isSystem(db, tenantId, systemId))) throw notFound("AI system");
  const rows = await noticeConfigs(db, tenantId, systemId);
  const ofSystem = systemId === null ? undefined : rows.find((row) => row.ai_system_id === systemId);
  if (ofSystem !== undefined) return read(ofSystem, "system");
  const ofTenant = rows.find((row) => row.ai_system_id === null);
  return read(ofTenant, ofTenant === undefined ? "default" : "tenant");
}

/** An AI system is a resource group of its tenant. */
export async function isSystem(db: Directory["db"], tenantId: string, id: string): Promise<boolean> {
  return (await resourceGroupStore.find(db, tenantId, id)) !== undefined;
}

/** Whether the digest is of a text that anybody may be shown: one in force, or a built-in one, which a portal shows when it cannot ask. */
export function isKnownText(config: NoticeConfig, digest: string): boolean {
  return Object.values(config.text_digests).includes(digest) || Object.values(DEFAULT_TEXTS).some((text) => sha256Hex(text) === digest);
}

function seal(
  write: Write,
  tenantId: string,
  systemId: string | null,
  action: string,
  context: ActionRecord["context"],
  references: ActionRecord["references"],
): void {
  const entry = { action, resource: RESOURCE, resource_id: systemId ?? tenantId };
  sealRecord(write, { tenantId, system: systemAlone(systemId), context, references, ...entry });
}

const textReferences = (texts: Readonly<Record<string, string>>): ActionRecord["references"] =>
  Object.entries(digestsOf(texts)).map(([locale, digest]) => ({
    type: "ai.gw.notice-text",
    digest_alg: "SHA-256",
    digest,
    purpose: "configured_text",
    locale,
  }));

export async function setNoticeConfig(write: Write, tenantId: string, body: NoticeConfigPut): Promise<NoticeConfig> {
  const systemId = body.ai_system_id ?? null;
  if (systemId !== null && !(await isSystem(write.trx, tenantId, systemId)))
    throw invalidField("ai_system_id", "names no resource group of this tenant");
  const ofSystem = (rows: readonly NoticeConfigRow[]) => rows.find((row) => row.ai_system_id === systemId);
  const source = systemId === null ? "tenant" : "system";
  const before = ofSystem(await noticeConfigs(write.trx, tenantId, systemId));
  // Read, they are the built-in texts.
  const isBuiltIn = before !== undefined && Object.keys(before.texts).length === 0 && isDeepStrictEqual(body.texts, { ...DEFAULT_TEXTS });
  await putNoticeConfig(write.trx, {
    id: uuid(),
    tenant_id: tenantId,
    ai_system_id: systemId,
    enabled: body.enabled,
    surface: body.surface,
    texts: JSON.stringify(isBuiltIn ? {} : body.texts),
    exemption: body.exemption === null ? null : JSON.stringify(body.exemption),
    updated_at: write.now,
  });
  const after = ofSystem(await noticeConfigs(write.trx, tenantId, systemId));
  if (before !== undefined && after !== undefined) write.stay(before, after, read(before, source));
  seal(
    write,
    tenantId,
    systemId,
    "set",
    { record_type: "ai.gw.notice-config", enabled: body.enabled, surface: body.surface },
    textReferences(body.texts),
  );
  if (body.exemption?.asserted === true) {
    seal(
      write,
      tenantId,
      systemId,
      "declare_exemption",
      { record_type: "ai.gw.declaration", basis: body.exemption.basis, rationale: body.exemption.rationale },
      [],
    );
  }
  return read(after, source);
}

export async function deleteNoticeConfig(write: Write, tenantId: string, systemId: string | null): Promise<void> {
  if (!(await removeNoticeConfig(write.trx, tenantId, systemId)))
    throw new Refused(refuse("not_found", "There is no such notice configuration."));
  seal(write, tenantId, systemId, "delete", { record_type: "ai.gw.notice-config", deleted: true }, []);
}

/** How many conversations had their notice before the first assistant turn. */
export async function readNoticeStatement(
  { db }: Pick<Directory, "db">,
  tenantId: string,
  window: { from: string | null; to: string | null; systemId: string | null },
): Promise<NoticeStatement> {
  const rows = await noticeBeforeFirstTurn(db, tenantId, window);
  const notMet = rows.filter(({ met }) => !met);
  return {
    statement: "notice.before_first_turn",
    met: rows.length - notMet.length,
    of: rows.length,
    from: window.from,
    to: window.to,
    not_met: notMet.slice(0, MAX_NAMED).map(({ handle }) => handle),
  };
}
