import { expect, test } from "bun:test";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { until } from "../../../../tests/support/until.ts";
import type { Call } from "../../../road/call.ts";
import { SkillFolders } from "../../../upstreams/sandbox/skill-folders.ts";
import { runScript, type ScriptTerms } from "./run-script.ts";
import type { SkillTools } from "./skill-parts.ts";

test("a skill's folder is released when its input files cannot be written", async () => {
  const root = mkdtempSync(join(tmpdir(), "run-script-"));
  try {
    let roots = 0;
    // The folder for the skill can be created, the one for its input cannot.
    const folders = new SkillFolders(() => (roots++ === 1 ? join(root, "full") : root));
    const files = new Map([["scripts/a.sh", { content: new TextEncoder().encode("echo"), executable: true }]]);
    const tools = {
      ...{ folders, sandbox: { runs: () => true }, running: async () => () => undefined },
      files: { find: async () => ({ size_bytes: 1, display_name: "in.txt" }), open: async () => new Response("x").body },
    } as unknown as SkillTools;
    const call = { identity: { tenantId: "t", credentialId: "k" }, scope: { groupId: "g", tenant: { id: "t" } } } as unknown as Call;
    const terms = {
      ...{ entry: { digest: "d" }, skill: { files }, deadlineMs: 1_000, depart: () => null },
      asked: { script: "scripts/a.sh", args: [], stdin: "", inputFiles: ["file"] },
    } as unknown as ScriptTerms;
    await expect(runScript(call, terms, tools)).rejects.toThrow("ENOENT");
    const first = await folders.open("d", files);
    first.close();
    rmSync(join(first.path, "scripts"), { recursive: true });
    const second = await folders.open("d", files);
    expect(second.path).not.toBe(first.path);
    await until(
      () => existsSync(first.path),
      (there) => !there,
    );
    second.close();
  } finally {
    rmSync(root, { recursive: true });
  }
});
