import { isDeepStrictEqual } from "node:util";
import type { ActionRecord } from "@gatehouse/ledger-format/action-record";
import type { NoticeConfig, NoticeConfigPut, NoticeStatement } from "@gatehouse/contracts/notices";
import { refuse, Refused } from "../../kernel/errors.ts";
import { uuid } from "../../kernel/ids.ts";
import { sha256Hex } from "../../kernel/secrets.ts";
import { readingLedger } from "../ledger-readings.ts";
import {
  noticeBeforeFirstTurn,
  noticeConfigs,
  putNoticeConfig,
  removeNoticeConfig,
  type NoticeConfigRow,
} from "../../store/people/notices.ts";
import { resourceGroupStore } from "../../store/groups/resource-groups.ts";
import { invalidField, notFound } from "../writes/records.ts";
import { sealRecord, systemAlone } from "../writes/sealed-record.ts";
import type { Directory, Write } from "../writes/write.ts";
import { DEFAULT_TEXTS } from "./default-texts.ts";

const RESOURCE = "notice-config";
const MAX_NAMED = 100;

const digestsOf = (texts: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(texts).map(([locale, text]) => [locale, sha256Hex(text)]));

function read(row: NoticeConfigRow | undefined): NoticeConfig {
  const own = row === undefined ? {} : row.texts;
  const texts = Object.keys(own).length === 0 ? { ...DEFAULT_TEXTS } : own;
  return {
    ai_system_id: row?.ai_system_id ?? null,
    source: row === undefined ? "default" : row.ai_system_id === null ? "tenant" : "system",
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
 * refusal if the system does not belong to the tenant.
 */
export async function effectiveNoticeConfig(
  { db }: Pick<Directory, "db">,
  tenantId: string,
  systemId: string | null,
): Promise<NoticeConfig> {
  if (systemId !== null && !(await isSystem(db, tenantId, systemId))) throw notFound("AI system");
  const rows = await noticeConfigs(db, tenantId, systemId);
  return read(rows.find((row) => row.ai_system_id === systemId) ?? rows.find((row) => row.ai_system_id === null));
}

/** An AI system is a resource group of its tenant. */
export async function isSystem(db: Directory["db"], tenantId: string, id: string): Promise<boolean> {
  return (await resourceGroupStore.find(db, tenantId, id)) !== undefined;
}

/**
 * Whether the digest belongs to a text that may be shown: one in force, or a built-in one, which a portal shows when it
 * cannot fetch the configuration.
 */
export function isKnownText(config: NoticeConfig, digest: string): boolean {
  return Object.values(config.text_digests).includes(digest) || Object.values(DEFAULT_TEXTS).some((text) => sha256Hex(text) === digest);
}

const textReferences = ({ text_digests }: NoticeConfig): ActionRecord["references"] =>
  Object.entries(text_digests).map(([locale, digest]) => ({
    type: "ai.gw.notice-text",
    digest_alg: "SHA-256",
    digest,
    purpose: "configured_text",
    locale,
  }));

function seal(
  write: Write,
  tenantId: string,
  systemId: string | null,
  record: { action: string; context: ActionRecord["context"]; references?: ActionRecord["references"]; before?: NoticeConfig | undefined },
): void {
  sealRecord(write, { tenantId, system: systemAlone(systemId), resource: RESOURCE, resource_id: systemId ?? tenantId, ...record });
}

export async function setNoticeConfig(write: Write, tenantId: string, body: NoticeConfigPut): Promise<NoticeConfig> {
  const systemId = body.ai_system_id ?? null;
  if (systemId !== null && !(await isSystem(write.trx, tenantId, systemId)))
    throw invalidField("ai_system_id", "names no resource group of this tenant");
  const stored = async () => (await noticeConfigs(write.trx, tenantId, systemId)).find((row) => row.ai_system_id === systemId);
  const before = await stored();
  const stood = before === undefined ? undefined : read(before);
  // A configuration without texts is read as the built-in ones, so sending these back changes nothing.
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
  const after = await stored();
  if (before !== undefined && after !== undefined) write.stay(before, after, stood);
  const holds = read(after);
  seal(write, tenantId, systemId, {
    action: "set",
    context: { record_type: "ai.gw.notice-config", enabled: body.enabled, surface: body.surface },
    references: textReferences(holds),
    before: stood,
  });
  if (body.exemption?.asserted === true) {
    seal(write, tenantId, systemId, {
      action: "declare_exemption",
      context: { record_type: "ai.gw.declaration", basis: body.exemption.basis, rationale: body.exemption.rationale },
    });
  }
  return holds;
}

export async function deleteNoticeConfig(write: Write, tenantId: string, systemId: string | null): Promise<void> {
  if (!(await endNoticeConfig(write, tenantId, systemId))) throw new Refused(refuse("not_found", "There is no such notice configuration."));
}

/** Returns false if there is none. */
export async function endNoticeConfig(write: Write, tenantId: string, systemId: string | null): Promise<boolean> {
  const removed = await removeNoticeConfig(write.trx, tenantId, systemId);
  if (removed === undefined) return false;
  const before = read(removed);
  seal(write, tenantId, systemId, {
    action: "delete",
    context: { record_type: "ai.gw.notice-config", deleted: true },
    references: textReferences(before),
    before,
  });
  return true;
}

/** How many conversations had their notice before the first assistant turn. */
export async function readNoticeStatement(
  { db }: Pick<Directory, "db">,
  tenantId: string,
  window: { from: string | null; to: string | null; systemId: string | null },
): Promise<NoticeStatement> {
  const rows = await readingLedger(db, tenantId, () => noticeBeforeFirstTurn(db, tenantId, window));
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
