import { randomUUID, sign } from "node:crypto";
import type { DeviceState } from "./device-state.ts";
import type { Scan } from "./scan.ts";

type Facts = Readonly<Record<string, unknown>>;

export interface ReportSettings {
  readonly collectorId: string;
  readonly keyId: string;
  /** The device's name; null unless reporting it is switched on. */
  readonly deviceName: string | null;
  readonly hashNames: boolean;
}

const MAX_EVENTS = 400;
const MAX_BYTES = 200_000;
const MAX_NAME_LENGTH = 200;

/** RFC 8785 JSON, limited to what is sent: strings, integers, booleans, null, arrays and objects. */
export function signedText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(signedText).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${signedText(member)}`).join(",")}}`;
}

/** The assets of a scan as they are reported, before event members are added. Only what is listed here leaves the device. */
export function reportedAssets({ clients, servers }: Scan, state: DeviceState, { hashNames }: ReportSettings): Facts[] {
  const nameOf = (name: string) =>
    hashNames ? state.hashed(`name\n${name}`) : name.toWellFormed().replaceAll("\0", "").slice(0, MAX_NAME_LENGTH);
  return [
    ...clients.map(({ client, name, configuration, modelEndpoint }) => ({
      asset_type: "local_ai_client",
      name,
      location_hash: state.hashed(`client\n${client}`),
      config_digest: state.hashed(`configuration\n${configuration}`),
      endpoints: [],
      attributes: { client, ...(modelEndpoint === null ? {} : { model_endpoint: modelEndpoint }) },
    })),
    ...servers.map(({ client, name, scope, location, configuration, facts: { endpoints, ...facts } }) => ({
      asset_type: "local_mcp_server",
      name: nameOf(name) || "unnamed",
      location_hash: state.hashed(`location\n${location}`),
      config_digest: state.hashed(`configuration\n${configuration}`),
      endpoints: [...endpoints],
      attributes: { client, scope, ...facts },
    })),
  ];
}

const identityOf = ({ asset_type: type, name, location_hash: location }: Facts) => signedText([type, name, location]);

/** Events for every asset seen, and for those reported last time and now gone. */
export function discoveryEventsOf(assets: readonly Facts[], before: readonly Facts[], state: DeviceState, now: Date): Facts[] {
  const event = (kind: string, asset: Facts): Facts => ({
    ...asset,
    event_id: randomUUID(),
    kind,
    device_id: state.deviceId,
    observed_at: now.toISOString(),
  });
  const there = new Set(assets.map(identityOf));
  return [
    ...assets.map((asset) => event("asset_seen", asset)),
    ...before.filter((asset) => !there.has(identityOf(asset))).map((asset) => event("asset_gone", asset)),
    event("heartbeat", {}),
  ];
}

/** The requests that report the events; `body` is exactly what is signed and sent. */
export function requestsOf(
  events: readonly Facts[],
  state: DeviceState,
  settings: ReportSettings,
  now: Date,
): { body: string; signature: string }[] {
  const batches: Facts[][] = [];
  let size = 0;
  for (const event of events) {
    const reported = settings.deviceName === null ? event : { ...event, device_name: settings.deviceName };
    const bytes = Buffer.byteLength(signedText(reported));
    const last = batches.at(-1);
    if (last === undefined || last.length >= MAX_EVENTS || size + bytes > MAX_BYTES) {
      batches.push([reported]);
      size = bytes;
    } else {
      last.push(reported);
      size += bytes;
    }
  }
  return batches.map((batch) => {
    const body = signedText({
      collector_id: settings.collectorId,
      key_id: settings.keyId,
      sent_at: now.toISOString(),
      nonce: randomUUID(),
      events: batch,
    });
    return { body, signature: sign(null, Buffer.from(body), state.privateKey).toString("base64") };
  });
}
