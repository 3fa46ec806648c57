import type { Configuration } from "./configuration.ts";

/** With less, a journal would fill up moments after the database becomes unreachable. */
const MIN_JOURNAL_BYTES = 16 * 1024 * 1024;

/** One process's share of the disk space allowed for the gateway's journals. */
export const journalShare = (bytes: number, processes: number): number => Math.max(MIN_JOURNAL_BYTES, Math.floor(bytes / processes));

/** With room for fewer, a body within the limit would be refused because of a single other one. */
const MIN_BODIES = 2;

/** Most bytes of memory for request bodies still arriving in one of `processes` processes, where one body may have `maxBodyBytes`. */
export const bodyShare = (memoryBytes: number, processes: number, maxBodyBytes: number): number =>
  Math.max(MIN_BODIES * maxBodyBytes, Math.floor(memoryBytes / 4 / processes));

/** The number of processes this configuration needs. */
export const groupSize = ({ processes, roles }: Pick<Configuration, "processes" | "roles">): number =>
  roles.includes("runtime") ? processes : 1;
