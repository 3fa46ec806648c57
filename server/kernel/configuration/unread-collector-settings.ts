import { editsBetween } from "../text/edits-between.ts";
import { VARIABLES } from "./variables.ts";

const ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT";
/** Letters in which a name that was meant may differ. */
const MISTYPED = 3;

/**
 * What is set of OpenTelemetry and changes nothing here, in words; null where all of it is used. Its specification has many
 * settings, and a process is to start whatever others are there: so it is told, and nothing refused.
 */
export function unreadCollectorSettings(env: Readonly<Record<string, string | undefined>>): string | null {
  const given = Object.keys(env).filter((name) => name.startsWith("OTEL_") && env[name] !== "" && env[name] !== undefined);
  // Kubernetes sets the addresses of every service of the namespace: that of a collector begins like a setting.
  const services = given.flatMap((name) => /^(.+)_SERVICE_HOST$/.exec(name)?.[1] ?? []);
  const set = given.filter((name) => !services.some((one) => name.startsWith(`${one}_SERVICE_`) || name.startsWith(`${one}_PORT`)));
  const unread = set.filter((name) => !(name in VARIABLES));
  if (set.includes(ENDPOINT)) return unread.length === 0 ? null : `${unread.join(", ")}: not read by the gateway, and without effect`;
  if (set.length === 0) return null;
  const mistyped = unread.find((name) => editsBetween(name, ENDPOINT, MISTYPED) <= MISTYPED);
  const hint = mistyped === undefined ? "" : ` (is it meant by ${mistyped}?)`;
  return `${ENDPOINT} is not set${hint}: no trace and no metric is sent, and ${set.join(", ")} without effect`;
}
