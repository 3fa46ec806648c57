import type { Files } from "../../directory/files/stored-files.ts";
import type { Snapshots } from "../../directory/snapshots.ts";
import type { BatchJob, BatchRecords } from "../../directory/batch/batch-records.ts";
import type { LineQueue } from "../../directory/batch/line-queue.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { Log } from "../../kernel/log.ts";
import type { CarriedRequest } from "../../road/road.ts";
import type { Call } from "../../road/call.ts";
import type { BatchEndpoint } from "./batch-endpoints.ts";

export interface BatchParts {
  readonly records: BatchRecords;
  readonly queue: LineQueue;
  readonly files: Pick<Files, "find" | "open" | "store" | "delete">;
  readonly snapshots: Pick<Snapshots, "tenant">;
  readonly clock: Clock;
  readonly log: Log;
  /** Lines this process carries out at a time while nobody waits for a call of their own. */
  readonly linesAtOnce: number;
  /** Calls of this process: how many are under way, lines among them, and how long no caller has made one, milliseconds. */
  readonly calls: { readonly size: number; readonly quietMs: number };
  /** One line as a call on the road; null while none is taken. */
  readonly carry: (
    endpoint: BatchEndpoint,
    request: CarriedRequest,
  ) => Promise<{ readonly call: Call; readonly response: Response } | null>;
  /** The row that says how a job ended. */
  readonly recordEnd: (job: BatchJob) => Promise<void>;
}
