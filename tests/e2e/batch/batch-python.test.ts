import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { serveModels, type Served } from "../../support/worlds/admin.ts";
import { startWorld, type World } from "../../support/world.ts";

/** A Python with OpenAI's official client, the same as for media. */
const PYTHON = process.env.MEDIA_PYTHON;
const SCRIPT = fileURLToPath(new URL("./batch-python.py", import.meta.url));

if (PYTHON === undefined) console.log("The Python client for batches is left out: MEDIA_PYTHON names no Python that has it.");
else {
  let world: World;
  let served: Served;

  beforeAll(async () => {
    world = await startWorld();
    served = await serveModels(world.admin, world.upstream.baseUrl, ["fake-1"]);
  });
  afterAll(() => world.end());

  test("OpenAI's Python client creates a batch from a file and reads its results", async () => {
    const run = Bun.spawn([PYTHON, SCRIPT, `${world.gateway.runtimeUrl}/v1/proxy/llm`, served.apiKey], { stderr: "pipe" });
    const [out, err] = await Promise.all([new Response(run.stdout).text(), new Response(run.stderr).text()]);
    if ((await run.exited) !== 0) throw new Error(err);
    expect(JSON.parse(out)).toEqual({ total: 2, status: "completed", metadata: { who: "us" }, ids: ["a", "b"], listed: true });
  });
}
