import type { Configuration } from "./configuration.ts";

/** With less a journal would refuse calls in a moment without the database. */
const LEAST_JOURNAL_BYTES = 16 * 1024 * 1024;

/** Of what the journals of a gateway may take that of each of its processes. */
export const journalShare = (bytes: number, processes: number): number => Math.max(LEAST_JOURNAL_BYTES, Math.floor(bytes / processes));

/** With room for fewer a body within the bound would be refused for no more than another one beside it. */
const LEAST_BODIES = 2;

/**
 * What bodies of requests that are still on their way may hold of the memory in one of so many processes, where one may have
 * `maxBodyBytes`.
 */
export const bodyShare = (memoryBytes: number, processes: number, maxBodyBytes: number): number =>
  Math.max(LEAST_BODIES * maxBodyBytes, Math.floor(memoryBytes / 4 / processes));

/** How many processes this configuration asks for. */
export const groupSize = ({ processes, roles }: Pick<Configuration, "processes" | "roles">): number =>
  roles.includes("runtime") ? processes : 1;
