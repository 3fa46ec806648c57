import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { PIXEL } from "../../support/vendors/painters.ts";
import { startVideoVendor, type VideoVendor, videoBytesOf } from "../../support/vendors/video-vendor.ts";
import { startWorld, type World } from "../../support/world.ts";
import { newTeam, type Team } from "../tools/mcp-harness.ts";

/** The same Python as in tests/e2e/media/media-python.test.ts. */
const PYTHON = process.env.MEDIA_PYTHON;
const SCRIPT = fileURLToPath(new URL("./videos-python.py", import.meta.url));

if (PYTHON === undefined)
  console.log(
    "The Python client for videos is left out: MEDIA_PYTHON names no Python that has it (python3 -m venv DIR && DIR/bin/pip install -r tests/e2e/media/media-python.txt).",
  );
else {
  let world: World;
  let team: Team;
  let vendor: VideoVendor;

  beforeAll(async () => {
    vendor = startVideoVendor({ takes: () => 500 });
    world = await startWorld();
    team = await newTeam(world.admin, "python");
    const tenant_id = "default";
    await world.admin.post("/v1/admin/providers", { tenant_id, provider_key: "o", api_format: "openai", base_url: `${vendor.origin}/v1` });
    const model = { tenant_id, name: "films", model_name: "film-1", provider: "o", mode: "video", group_ids: [team.groupId] };
    await world.admin.post("/v1/admin/llms", model);
  });
  afterAll(async () => {
    await world.end();
    await vendor.stop();
  });

  test("OpenAI's Python client creates, downloads and deletes a video", async () => {
    const picture = join(world.gateway.dataDir, "dot.png");
    await writeFile(picture, Buffer.from(PIXEL, "base64"));
    const run = Bun.spawn([PYTHON, SCRIPT, `${world.gateway.runtimeUrl}/v1/proxy/llm`, team.apiKey, picture], { stderr: "pipe" });
    const [out, err] = await Promise.all([new Response(run.stdout).text(), new Response(run.stderr).text()]);
    if ((await run.exited) !== 0) throw new Error(err);
    expect(JSON.parse(out)).toEqual({
      ...{ status: "completed", progress: 100, seconds: "4", size: "1280x720" },
      ...{ bytes: videoBytesOf("").byteLength, listed: true, deleted: true },
    });
  });
}
