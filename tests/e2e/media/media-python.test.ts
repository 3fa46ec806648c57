import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { wav } from "../../support/formats/sounds.ts";
import { startTranscriber } from "../../support/vendors/transcriber.ts";
import { startWorld, type World } from "../../support/world.ts";
import { newTeam, type Team } from "../tools/mcp-harness.ts";

/** A Python with the official client. It is not an npm package, so install it to run these tests. */
const PYTHON = process.env.MEDIA_PYTHON;
const SCRIPT = fileURLToPath(new URL("./media-python.py", import.meta.url));

if (PYTHON === undefined)
  console.log(
    "The Python client for media is left out: MEDIA_PYTHON names no Python that has it (python3 -m venv DIR && DIR/bin/pip install -r tests/e2e/media/media-python.txt).",
  );
else {
  let world: World;
  let team: Team;
  let vendor: ReturnType<typeof startTranscriber>;

  beforeAll(async () => {
    vendor = startTranscriber();
    world = await startWorld();
    team = await newTeam(world.admin, "python");
    await world.admin.post("/v1/admin/providers", {
      tenant_id: "default",
      provider_key: "o",
      api_format: "openai",
      base_url: vendor.baseUrl,
    });
    for (const [name, model_name] of [
      ["hears", "whisper-1"],
      ["hears-by-token", "gpt-transcribe"],
    ])
      await world.admin.post("/v1/admin/llms", {
        tenant_id: "default",
        name,
        model_name,
        provider: "o",
        mode: "audio_transcription",
        group_ids: [team.groupId],
      });
  });
  afterAll(async () => {
    await world.end();
    await vendor.stop();
  });

  test("OpenAI's Python client gets transcripts in every form", async () => {
    const sound = join(world.gateway.dataDir, "memo.wav");
    await writeFile(sound, wav(3));
    const run = Bun.spawn([PYTHON, SCRIPT, `${world.gateway.runtimeUrl}/v1/proxy/llm`, team.apiKey, sound], { stderr: "pipe" });
    const [out, err] = await Promise.all([new Response(run.stdout).text(), new Response(run.stderr).text()]);
    if ((await run.exited) !== 0) throw new Error(err);
    const text = "Mail joe@example.com or call 415 555 2671 tomorrow";
    expect(JSON.parse(out)).toEqual({
      text,
      verbose: 2,
      plain: `${text}\n`,
      events: ["transcript.text.delta", "transcript.text.delta", "transcript.text.done"],
      translation: text,
    });
    expect(vendor.heard[0]?.fields).toContainEqual(["timestamp_granularities[]", "segment"]);
  });
}
