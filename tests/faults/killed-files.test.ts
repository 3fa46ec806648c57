import { afterAll, beforeAll, expect, test } from "bun:test";
import { rowOf, signIn } from "../support/worlds/admin.ts";
import { type TestDatabase, testDatabase } from "../support/database.ts";
import { removeDirectory, startGateway } from "../support/gateway.ts";
import { until } from "../support/until.ts";
import { newTeam } from "../e2e/tools/mcp-harness.ts";

/** More than the connection and the gateway's buffers hold if nobody reads. */
const LARGE = 40 * 1024 * 1024;

let database: TestDatabase;

beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.close());

async function beganDownload(name: string) {
  const gateway = await startGateway({ databaseUrl: database.url, env: { GW_DRAIN_SECONDS: "1", GW_DRAIN_NOTICE_SECONDS: "0" } });
  const team = await newTeam(await signIn(gateway.adminUrl), name);
  const headers = { "x-api-key": team.apiKey };
  const form = new FormData();
  form.set("file", new Blob([Buffer.alloc(LARGE, "word ")]), "large.txt");
  form.set("kind", "document");
  const { id } = (await (await fetch(`${gateway.runtimeUrl}/v1/proxy/files`, { method: "POST", headers, body: form })).json()) as {
    id: string;
  };
  const download = await fetch(`${gateway.runtimeUrl}/v1/proxy/files/${id}/content`, { headers: { ...headers, "x-correlation-id": name } });
  const reader = (download.body as ReadableStream<Uint8Array>).getReader();
  const first = await reader.read();
  const rest = async () => {
    let bytes = first.value?.byteLength ?? 0;
    for (let read = await reader.read(); !read.done; read = await reader.read()) bytes += read.value.byteLength;
    return bytes;
  };
  return { gateway, id, rest };
}

test.each(["killed", "stopped"])("a download has a gateway_interrupted row if the gateway is %s before it is complete", async (how) => {
  const { gateway, id, rest } = await beganDownload(how);
  await (how === "killed" ? gateway.kill() : gateway.stop());
  // Cut off or complete: a partial file must never look complete.
  expect(await rest().catch(() => null)).toBeNull();
  const again = await startGateway({ databaseUrl: database.url, dataDir: gateway.dataDir });
  expect(await rowOf(await signIn(again.adminUrl), { correlation_id: how })).toMatchObject({
    proxy_subtype: "file_content",
    success: false,
    error_type: "gateway_interrupted",
    custom_metadata: { file: { id } },
  });
  await again.stop();
  await removeDirectory(gateway.dataDir);
});

test("an upload has a gateway_interrupted row if the gateway is killed before it is complete", async () => {
  const gateway = await startGateway({ databaseUrl: database.url });
  const team = await newTeam(await signIn(gateway.adminUrl), "uploads");
  const boundary = "----part";
  const head = `--${boundary}\r\nContent-Disposition: form-data; name="kind"\r\n\r\ndocument\r\n--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\nwords`;
  const begun = Promise.withResolvers<void>();
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      controller.enqueue(new TextEncoder().encode(head));
      begun.resolve();
      return new Promise(() => undefined);
    },
  });
  const upload = fetch(`${gateway.runtimeUrl}/v1/proxy/files`, {
    ...{ method: "POST", body, duplex: "half" },
    headers: { "x-api-key": team.apiKey, "x-correlation-id": "upload", "content-type": `multipart/form-data; boundary=${boundary}` },
  }).catch(() => null);
  await begun.promise;
  const metrics = async () => (await fetch(`${gateway.adminUrl}/metrics`)).text();
  await until(metrics, (text) => /^gatehouse_ledger_open_calls(\{.*\})? 1$/m.test(text));
  await gateway.kill();
  await upload;
  const again = await startGateway({ databaseUrl: database.url, dataDir: gateway.dataDir });
  expect(await rowOf(await signIn(again.adminUrl), { correlation_id: "upload" })).toMatchObject({
    proxy_subtype: "file_upload",
    success: false,
    error_type: "gateway_interrupted",
  });
  await again.stop();
  await removeDirectory(gateway.dataDir);
});
