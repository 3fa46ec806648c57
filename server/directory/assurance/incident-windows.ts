import type { IncidentWindow, IncidentWindowCreate, IncidentWindowUpdate } from "@gatehouse/contracts/ai-drift";
import { uuid } from "../../kernel/ids.ts";
import { aiSystemStore } from "../../store/assurance/ai-systems.ts";
import { incidentWindowStore, type WindowInsert, type WindowPatch, type WindowRow } from "../../store/assurance/incident-windows.ts";
import type { Page, Paged } from "../../store/records/paging.ts";
import { invalidField, notFound } from "../writes/records.ts";
import { sealRecord, systemAlone } from "../writes/sealed-record.ts";
import type { Directory, Write } from "../writes/write.ts";
import { foundSystem, lockedSystem, refuseRetired } from "./ai-systems.ts";

const RESOURCE = "incident-windows";

function read(row: WindowRow): IncidentWindow {
  return {
    id: row.id,
    ai_system_id: row.ai_system_id,
    title: row.title,
    severity: row.severity as IncidentWindow["severity"],
    reason: row.reason,
    started_at: row.started_at.toISOString(),
    ended_at: row.ended_at?.toISOString() ?? null,
    declared_by: row.declared_by,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}

export async function listIncidentWindows(
  { db }: Pick<Directory, "db">,
  tenantId: string,
  systemId: string | undefined,
  page: Page,
): Promise<Paged<IncidentWindow>> {
  if (systemId !== undefined) await foundSystem(db, tenantId, systemId);
  const { items, total } = await incidentWindowStore.page(db, tenantId, { systemId }, page);
  return { items: items.map(read), total };
}

export async function readIncidentWindow({ db }: Pick<Directory, "db">, tenantId: string, id: string): Promise<IncidentWindow> {
  const row = await incidentWindowStore.find(db, tenantId, id);
  if (row === undefined) throw notFound("incident window");
  return read(row);
}

/** Every change to a window is sealed, because windows decide which traffic counts as normal. */
function seal(write: Write, row: WindowRow, action: "declare" | "change" | "withdraw", before?: IncidentWindow): string {
  return sealRecord(write, {
    tenantId: row.tenant_id,
    system: systemAlone(row.ai_system_id),
    action,
    resource: RESOURCE,
    resource_id: row.id,
    ...(before === undefined ? {} : { before }),
    context: { record_type: "ai.gw.incident-window", ...(action === "withdraw" ? { withdrawn: true } : read(row)) },
  });
}

function checkTimes({ started_at: from, ended_at: to }: Pick<WindowRow, "started_at" | "ended_at">): void {
  if (to !== null && to.getTime() <= from.getTime()) throw invalidField("ended_at", "must be after started_at");
}

async function written(write: Write, tenantId: string, id: string): Promise<WindowRow> {
  const row = await incidentWindowStore.find(write.trx, tenantId, id);
  if (row === undefined) throw notFound("incident window");
  return row;
}

/** Returns the window and the digest of its seal. */
export async function openWindow(
  write: Write,
  tenantId: string,
  body: IncidentWindowCreate & { readonly finding_id?: string },
): Promise<{ readonly window: IncidentWindow; readonly seal: string }> {
  const systemId = body.ai_system_id ?? null;
  if (systemId !== null && (await aiSystemStore.find(write.trx, tenantId, systemId)) === undefined)
    throw invalidField("ai_system_id", "names no AI System of this tenant");
  const values: WindowInsert & { id: string } = {
    ...body,
    id: uuid(),
    tenant_id: tenantId,
    ai_system_id: systemId,
    declared_by: write.actor.username,
    created_at: write.now,
    updated_at: write.now,
  };
  await incidentWindowStore.insert(write.trx, values);
  const row = await written(write, tenantId, values.id);
  checkTimes(row);
  return { window: read(row), seal: seal(write, row, "declare") };
}

/** Throws a `not_found` refusal if the system does not belong to the tenant. */
export async function declareWindowOfSystem(
  write: Write,
  tenantId: string,
  systemId: string,
  body: Omit<IncidentWindowCreate, "ai_system_id">,
): Promise<IncidentWindow> {
  refuseRetired(await lockedSystem(write, tenantId, systemId));
  return (await openWindow(write, tenantId, { ...body, ai_system_id: systemId })).window;
}

export async function declareIncidentWindow(write: Write, tenantId: string, body: IncidentWindowCreate): Promise<IncidentWindow> {
  await refuseOfRetired(write, tenantId, body.ai_system_id ?? null);
  return (await openWindow(write, tenantId, body)).window;
}

/** Refuses changes for a retired system, whose windows were all closed at retirement. */
async function refuseOfRetired(write: Write, tenantId: string, systemId: string | null): Promise<void> {
  const system = systemId === null ? undefined : await aiSystemStore.find(write.trx, tenantId, systemId, "lock");
  if (system !== undefined) refuseRetired(system);
}

function isOver({ ended_at: end }: { readonly ended_at: Date | string | null }, now: Date): boolean {
  return end !== null && new Date(end) <= now;
}

export async function changeIncidentWindow(
  write: Write,
  tenantId: string,
  id: string,
  body: IncidentWindowUpdate,
): Promise<IncidentWindow> {
  const before = await incidentWindowStore.find(write.trx, tenantId, id, "lock");
  if (before === undefined) throw notFound("incident window");
  if (isOver(before, write.now) && body.ended_at !== undefined && !isOver({ ended_at: body.ended_at }, write.now))
    await refuseOfRetired(write, tenantId, before.ai_system_id);
  await incidentWindowStore.update(write.trx, id, { ...body, updated_at: write.now } as WindowPatch);
  const row = await written(write, tenantId, id);
  checkTimes(row);
  write.stay(before, row, read(before));
  seal(write, row, "change", read(before));
  return read(row);
}

export async function withdrawIncidentWindow(write: Write, tenantId: string, id: string): Promise<void> {
  const row = await incidentWindowStore.find(write.trx, tenantId, id, "lock");
  if (row === undefined) throw notFound("incident window");
  await incidentWindowStore.remove(write.trx, id);
  seal(write, row, "withdraw", read(row));
}
