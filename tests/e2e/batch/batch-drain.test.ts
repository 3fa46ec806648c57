import { afterAll, expect, test } from "bun:test";
import { sql } from "kysely";
import { serveModels, signIn } from "../../support/worlds/admin.ts";
import { testDatabase } from "../../support/database.ts";
import { ANSWER_TEXT } from "../../support/vendors/fake-upstream.ts";
import { removeDirectory, startGateway } from "../../support/gateway.ts";
import { LONG_TEST_MS } from "../../support/patience.ts";
import { until } from "../../support/until.ts";

/** While a process drains, other processes leave its lines to it, however long their answers take within the drain period. */

const asked = Promise.withResolvers<void>();
const mayAnswer = Promise.withResolvers<void>();
let calls = 0;
const upstream = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  async fetch() {
    calls++;
    asked.resolve();
    await mayAnswer.promise;
    return new Response(ANSWER_TEXT, { headers: { "content-type": "application/json" } });
  },
});
afterAll(() => upstream.stop(true));

test(
  "a batch line answered while its process drains is not taken over by another process",
  async () => {
    const database = await testDatabase();
    const stopping = await startGateway({ databaseUrl: database.url, env: { GW_DRAIN_SECONDS: "120" } });
    const { apiKey } = await serveModels(await signIn(stopping.adminUrl), `http://127.0.0.1:${upstream.port}/v1`, ["m"]);
    const api = async (base: string, method: string, path: string, body?: unknown) => {
      const headers = { "x-api-key": apiKey, "content-type": "application/json" };
      const reply = await fetch(`${base}/v1/proxy/batch/jobs${path}`, {
        method,
        headers,
        body: body === undefined ? null : JSON.stringify(body),
      });
      return reply.json() as Promise<any>;
    };
    const requests = [{ custom_id: "a", body: { messages: [{ role: "user", content: "a" }] } }];
    const { id } = await api(stopping.runtimeUrl, "POST", "", { model: "m", requests });
    await asked.promise;
    const other = await startGateway({ databaseUrl: database.url });
    const { rows } = await sql<{ until: string }>`SELECT alive_until::text AS until FROM batch_runners r
      WHERE EXISTS (SELECT FROM batch_lines l WHERE l.owner = r.id)`.execute(database.db);
    const stopped = stopping.stop();
    const lineState = async () => {
      const found = await sql<{ line: number; late: boolean }>`SELECT l.state AS line, now() > ${rows[0]?.until}::timestamptz AS late
        FROM batch_lines l`.execute(database.db);
      return found.rows[0];
    };
    // Waits out the lease that the process held when told to stop, and then two more looks of the other process.
    await until(lineState, (found) => found?.line !== 1 || found.late);
    const at = Date.now();
    await until(lineState, (found) => found?.line !== 1 || Date.now() - at > 3_000);
    mayAnswer.resolve();
    expect(await stopped).toBe(0);
    const job = await until(
      () => api(other.runtimeUrl, "GET", `/${id}`),
      ({ ended_at: ended }) => ended !== null,
    );
    expect(job).toMatchObject({ status: "completed", request_counts: { completed: 1, failed: 0 } });
    expect(calls).toBe(1);
    await other.stop();
    await database.close();
    for (const { dataDir } of [stopping, other]) await removeDirectory(dataDir);
  },
  LONG_TEST_MS,
);
