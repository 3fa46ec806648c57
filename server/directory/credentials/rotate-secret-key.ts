import { firstNameKeys } from "../../kernel/secrets.ts";
import type { Database } from "../../store/database.ts";
import { keepNameKeys } from "../../store/records/name-key-store.ts";
import { type Boxes, countSealed, resealAll } from "../../store/records/sealed-values.ts";
import { OPERATOR, operatorDirectory } from "../people/operator.ts";
import { write } from "../writes/write.ts";

/** Encrypts every stored secret under the new key. The admin log says beforehand what was under the previous one, so that a run that is killed is in it too. */
export async function rotateSecretKeyByOperator(db: Database, boxes: Boxes, previous: Uint8Array): Promise<ReadonlyMap<string, number>> {
  await keepNameKeys(db, boxes, firstNameKeys(previous));
  const old = (await countSealed(db, boxes)).filter(({ other }) => other > 0);
  if (old.length === 0) return new Map();
  await write(operatorDirectory(db), OPERATOR, async (change) =>
    change.log({
      tenant_id: null,
      action: "rotate",
      resource: "secret-key",
      resource_id: null,
      after: { under_previous_key: Object.fromEntries(old.map(({ kind, other }) => [kind, other])) },
    }),
  );
  return resealAll(db, boxes);
}
