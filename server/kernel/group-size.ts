import type { Configuration } from "./configuration.ts";

/** With less a journal would refuse calls in a moment without the database. */
const LEAST_JOURNAL_BYTES = 16 * 1024 * 1024;

/** Of what the journals of a gateway may take that of each of its processes. */
export const journalShare = (bytes: number, processes: number): number => Math.max(LEAST_JOURNAL_BYTES, Math.floor(bytes / processes));

/**
 * Of the memory that the bodies of requests may hold that are still on their way, in one of so many processes: never less
 * than one body may have, which else could not be sent however often it is tried.
 */
export const bodyShare = (memoryBytes: number, processes: number, mostOfABody: number): number =>
  Math.max(mostOfABody, Math.floor(memoryBytes / 4 / processes));

/** How many processes this configuration asks for. */
export const groupSize = ({ processes, roles }: Pick<Configuration, "processes" | "roles">): number =>
  roles.includes("runtime") ? processes : 1;
