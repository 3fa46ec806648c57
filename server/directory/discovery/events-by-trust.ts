import type { DiscoveryEvent, DiscoveryEventsTaken } from "@gatehouse/contracts/discovery";
import type { CollectorKeyRow } from "../../store/discovery/collector-keys.ts";
import type { Trx } from "../../store/database.ts";
import { countDevices, ownersOfDevices } from "../../store/discovery/discovery-devices.ts";

const MAX_DEVICES = 100_000;

interface Sorted {
  readonly allowed: DiscoveryEvent[];
  readonly rejected: DiscoveryEventsTaken["rejected"];
  /** For a low-tier key: the device it is bound to. */
  readonly deviceId: string | null;
  readonly sharedKey: boolean;
}

/** Splits events by what the key may report: a low-tier key only one device, a standard one no device of another collector. */
export async function eventsByTrust(trx: Trx, key: CollectorKeyRow, events: readonly DiscoveryEvent[]): Promise<Sorted> {
  const owners = await ownersOfDevices(trx, key.tenant_id, [...new Set(events.map(({ device_id: id }) => id))]);
  const newDevices = MAX_DEVICES - (await countDevices(trx, key.tenant_id));
  const counted = new Set<string>();
  const sorted = { allowed: [] as DiscoveryEvent[], rejected: [] as DiscoveryEventsTaken["rejected"] };
  let deviceId = key.device_id;
  let sharedKey = false;
  for (const event of events) {
    const { device_id: device, event_id: id } = event;
    const owner = owners.get(device);
    const reject = (reason: string) => void sorted.rejected.push({ event_id: id, reason });
    if (owner !== undefined && owner !== key.collector_id && key.trust_tier !== "high") {
      reject("the device is another collector's");
      continue;
    }
    if (key.trust_tier === "low") {
      deviceId ??= device;
      if (device !== deviceId) {
        sharedKey = true;
        reject("the key speaks for another device");
        continue;
      }
    }
    if (owner === undefined && !counted.has(device)) {
      if (counted.size >= newDevices) {
        reject("there are too many devices");
        continue;
      }
      counted.add(device);
    }
    sorted.allowed.push(event);
  }
  return { ...sorted, deviceId, sharedKey };
}
