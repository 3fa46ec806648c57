import type { Configuration } from "../kernel/configuration/configuration.ts";
import { bucketState } from "../ledger/checkpoints/stored-checkpoints.ts";
import { outbound } from "../runtime/outbound.ts";
import type { Database } from "../store/database.ts";
import { openBucket } from "../store/files/bucket.ts";
import { type DoctorFinding, finding } from "./finding.ts";

const ABOUT = "checkpoint bucket";
/** Objects named in one finding. */
const NAMED = 5;

export async function* examineBucket(
  db: Database,
  { auditCheckpointBucket: settings }: Pick<Configuration, "auditCheckpointBucket">,
): AsyncGenerator<DoctorFinding> {
  if (settings === undefined) return;
  const bucket = openBucket(settings, outbound({ allowPrivate: true }));
  const { address } = bucket;
  try {
    const { kept, lacking, contradicting, differing } = await bucketState(bucket, db);
    yield finding(
      lacking.length > 0 ? "warning" : "ok",
      ABOUT,
      `${address} answers; ${lacking.length > 0 ? `the newest checkpoint of ${lacking.join(", ")} is not there: is a gateway with these settings running?` : `it has the newest checkpoint of ${kept} chain(s)`}`,
    );
    for (const chainId of contradicting)
      yield finding(
        "wrong",
        ABOUT,
        `${address} has checkpoints of ${chainId} that the database does not have: the chain was set back; gatehouse audit verify --checkpoints says from which row on`,
      );
    const named = differing.slice(0, NAMED).join(", ");
    if (differing.length > 0)
      yield finding(
        "wrong",
        ABOUT,
        `${address} and the database have different checkpoints in ${differing.length} place(s): ${named}${differing.length > NAMED ? ", ..." : ""}; ` +
          `the chain was set back, or one of the two was changed; gatehouse audit verify --checkpoints says whether its rows hold`,
      );
  } catch (error) {
    yield finding("wrong", ABOUT, `${address}: ${(error as Error).message}`);
  }
}
