import { afterAll, expect, test } from "bun:test";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Confinement } from "./confinement.ts";
import { interpreters, programOn } from "./languages.ts";
import { probeConfinement } from "./probe.ts";
import { Sandbox } from "./sandbox.ts";
import { seccompFilter } from "./seccomp-filter.ts";
import { WorkFolder } from "./work-folder.ts";

const log = { info: () => undefined, warn: () => undefined, error: () => undefined } as never;
const PATH = "/usr/bin:/bin";
const bubblewrap = programOn(PATH, "bwrap") ?? "";
const work = new WorkFolder(seccompFilter(process.arch));
const wrappers = mkdtempSync(join(tmpdir(), "gatehouse-test-"));
const sandbox = new Sandbox(process.env, log);
const confines = await sandbox.runs("bash");

afterAll(async () => {
  await sandbox.close();
  work.remove();
  rmSync(wrappers, { recursive: true });
});

/** What the probe finds if bubblewrap is given other arguments: `edit` is shell code that changes `args`. */
function found(edit: string): Promise<string | null> {
  const wrapper = join(wrappers, `bwrap-${Math.random()}`);
  writeFileSync(wrapper, `#!/usr/bin/bash\nargs=("$@")\n${edit}\nexec ${bubblewrap} "\${args[@]}"\n`);
  chmodSync(wrapper, 0o755);
  chmodSync(wrappers, 0o755);
  const setpriv = process.getuid?.() === 0 ? programOn(PATH, "setpriv") : null;
  const confinement: Confinement = { bubblewrap: wrapper, setpriv, filter: work.filterFile(), controlGroups: [] };
  const bash = interpreters().get("bash");
  if (bash === undefined) throw new Error("there is no bash");
  return probeConfinement(confinement, bash, work.current(), new AbortController().signal);
}

/** Shell code that adds flags before the skill is mounted, while folders can still be made. */
const adding = (flags: string) =>
  `for at in "\${!args[@]}"; do [ "\${args[at]}" = /skill ] && break; done; args=("\${args[@]:0:at-2}" ${flags} "\${args[@]:at-2}")`;
/** Shell code that removes a flag and the values after it. */
const without = (flag: string, values: number) =>
  `for at in "\${!args[@]}"; do [ "\${args[at]}" = ${flag} ] && break; done; args=("\${args[@]:0:at}" "\${args[@]:at+${values + 1}}")`;

test.skipIf(!confines)("the probe trusts the confinement as it is, and names each thing that it lacks", async () => {
  expect(await found("")).toBeNull();
  const weakened = {
    "a file of the host can be read": adding(`--bind ${work.current()} ${work.current()}`),
    "accounts of the host can be read": adding("--ro-bind /etc/passwd /etc/passwd"),
    // The filter of system calls alone keeps the network away too.
    "the network can be reached": `${adding("--share-net")}; ${without("--seccomp", 1)}`,
    "/input can be written to": adding("--tmpfs /input"),
    "it runs as somebody": adding("--uid 1000"),
    "system calls are not filtered": without("--seccomp", 1),
    "the environment of the gateway can be read": adding("--setenv GATEHOUSE_PROBE it"),
    "there is no temporary folder": adding("--remount-ro /tmp"),
  };
  for (const [lack, edit] of Object.entries(weakened)) expect(`${await found(edit)}`).toContain(`broken: ${lack}`);
});

test.skipIf(!confines)("processes of the host are found if only the process namespace is shared", async () => {
  const sharing = `${without("--unshare-all", 0)}; ${without("--as-pid-1", 0)}; ${adding("--unshare-net --unshare-ipc --unshare-uts")}`;
  expect(await found(sharing)).toContain("broken: processes of the host can be reached");
});

test.skipIf(!confines)("whether scripts run is known once the probe has ended, and nothing runs before", async () => {
  const opening = new Sandbox(process.env, log);
  const script = { language: "bash", skill: opening.folder(), input: null, script: "scripts/say.sh", args: [] } as const;
  const terms = { stdin: "", deadlineMs: 20_000, signal: new AbortController().signal };
  expect(opening.kind).toBeNull();
  expect(() => opening.run({ ...script, ...terms })).toThrow("where nothing confines it");
  expect(await opening.runs("bash")).toBe(true);
  expect(opening.kind).toBe("bubblewrap");
  await opening.close();
});

test.skipIf(!confines)("a sandbox that is closed during its probe never runs anything", async () => {
  const warnings: string[] = [];
  const closed = new Sandbox(process.env, { info: () => undefined, warn: (event: string) => warnings.push(event) } as never);
  await closed.close();
  expect(await closed.runs("bash")).toBe(false);
  expect(warnings).toEqual([]);
});
