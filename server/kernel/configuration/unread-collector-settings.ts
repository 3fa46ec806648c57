import { editsBetween } from "../text/edits-between.ts";
import { VARIABLES } from "./variables.ts";

const ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT";
/** Most edits between a mistyped name and the setting that is suggested. */
const MISTYPED = 3;

/**
 * Describes OpenTelemetry settings that have no effect here; null if all are used. They are only reported and never stop a start, because
 * the specification defines many and others may be set for good reason.
 */
export function unreadCollectorSettings(env: Readonly<Record<string, string | undefined>>): string | null {
  const given = Object.keys(env).filter((name) => name.startsWith("OTEL_") && env[name] !== "" && env[name] !== undefined);
  // Kubernetes sets variables for every service of the namespace, and those of a collector's service look like settings.
  const services = given.flatMap((name) => /^(.+)_SERVICE_HOST$/.exec(name)?.[1] ?? []);
  const set = given.filter((name) => !services.some((one) => name.startsWith(`${one}_SERVICE_`) || name.startsWith(`${one}_PORT`)));
  const unread = set.filter((name) => !(name in VARIABLES));
  if (set.includes(ENDPOINT)) return unread.length === 0 ? null : `${unread.join(", ")}: not read by the gateway, and without effect`;
  if (set.length === 0) return null;
  const mistyped = unread.find((name) => editsBetween(name, ENDPOINT, MISTYPED) <= MISTYPED);
  const hint = mistyped === undefined ? "" : ` (is it meant by ${mistyped}?)`;
  return `${ENDPOINT} is not set${hint}: no trace and no metric is sent, and ${set.join(", ")} without effect`;
}
