import { afterEach, expect, test } from "bun:test";
import { existsSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Sandbox } from "./sandbox.ts";
import { SkillFolders } from "./skill-folders.ts";
import { WorkFolder } from "./work-folder.ts";

/** Operating systems delete unused temporary files, while a gateway may run for months. */

const files = new Map(
  Object.entries({ "SKILL.md": "words", "scripts/say.sh": "cat /skill/references/deep/word.txt", "references/deep/word.txt": "here" }).map(
    ([path, content]) => [path, { content: new TextEncoder().encode(content), executable: path.endsWith(".sh") }],
  ),
);
const FILTER = new Uint8Array([1, 2, 3, 4, 5, 6, 7, 8]);

const ends: (() => void | Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

function workFolder(): WorkFolder {
  const work = new WorkFolder(FILTER);
  ends.push(() => work.remove());
  return work;
}

test("the work folder and its filter are created again if they were deleted or damaged", () => {
  const work = workFolder();
  const first = work.current();
  expect(statSync(work.filterFile()).size).toBe(FILTER.byteLength);
  expect(work.current()).toBe(first);
  rmSync(work.filterFile());
  expect(statSync(work.filterFile()).size).toBe(FILTER.byteLength);
  writeFileSync(work.filterFile(), "");
  expect(statSync(work.filterFile()).size).toBe(FILTER.byteLength);
  rmSync(first, { recursive: true });
  const second = work.current();
  expect(existsSync(second)).toBe(true);
  expect(statSync(second).mode & 0o777).toBe(0o755);
  expect(work.filterFile().startsWith(second)).toBe(true);
  rmSync(second, { recursive: true });
  writeFileSync(second, "somebody else's");
  expect(statSync(work.current()).isDirectory()).toBe(true);
  rmSync(second);
});

test("a partly deleted skill is written again, once, while its running scripts keep the old folder", async () => {
  const work = workFolder();
  const folders = new SkillFolders(() => work.current());
  const first = await folders.open("digest", files);
  const again = await folders.open("digest", files);
  expect(again.path).toBe(first.path);
  again.close();
  rmSync(join(first.path, "references"), { recursive: true });
  const [second, third] = await Promise.all([folders.open("digest", files), folders.open("digest", files)]);
  expect(second.path).not.toBe(first.path);
  expect(third.path).toBe(second.path);
  expect(existsSync(join(second.path, "references/deep/word.txt"))).toBe(true);
  expect(existsSync(first.path)).toBe(true);
  first.close();
  for (let tries = 0; existsSync(first.path) && tries < 1_000; tries++) await new Promise((resolve) => setTimeout(resolve, 5));
  expect(readdirSync(work.current())).toEqual([second.path.split("/").at(-1) as string]);
  second.close();
  third.close();
  rmSync(work.current(), { recursive: true });
  const fourth = await folders.open("digest", files);
  expect(existsSync(join(fourth.path, "scripts/say.sh"))).toBe(true);
  fourth.close();
  const given = await folders.forRun(new Map([["a.txt", new Uint8Array([1])]]));
  expect(existsSync(join(given.path, "a.txt"))).toBe(true);
  await given.close();
});

test("a folder that could not be written completely is deleted", async () => {
  const work = workFolder();
  const folders = new SkillFolders(() => work.current());
  // No file can exist below another file, so this fails like a full disk.
  const file = { content: new Uint8Array(1_000), executable: false };
  const torn = new Map([
    ["a", file],
    ["a/b", file],
  ]);
  await expect(folders.open("torn", torn)).rejects.toThrow();
  await expect(folders.forRun(new Map([...torn].map(([name, { content }]) => [name, content])))).rejects.toThrow();
  expect(readdirSync(work.current())).toEqual([]);
});

const log = { info: () => undefined, warn: () => undefined, error: () => undefined } as never;
const sandbox = new Sandbox(process.env, log);

test.skipIf(!(await sandbox.runs("bash")))("a script runs whatever was deleted since the last run", async () => {
  ends.push(() => sandbox.close());
  const folders = new SkillFolders(() => sandbox.folder());
  const ran = async () => {
    const skill = await folders.open("digest", files);
    const { signal } = new AbortController();
    const { stdout, exitCode, end } = await sandbox.run({
      ...{ language: "bash", skill: skill.path, input: null, script: "scripts/say.sh", args: [] },
      ...{ stdin: "", deadlineMs: 20_000, signal },
    });
    skill.close();
    return { end, exitCode, said: Buffer.from(stdout).toString() };
  };
  const worked = { end: "exited", exitCode: 0, said: "here" } as const;
  expect(await ran()).toEqual(worked);
  rmSync(join(sandbox.folder(), "filter.bpf"));
  expect(await ran()).toEqual(worked);
  for (const name of readdirSync(sandbox.folder())) rmSync(join(sandbox.folder(), name), { recursive: true });
  expect(await ran()).toEqual(worked);
  rmSync(sandbox.folder(), { recursive: true });
  expect(await ran()).toEqual(worked);
});
