import { reasonOf } from "../../kernel/errors.ts";
import type { Log } from "../../kernel/log.ts";
import { type Confinement, RUN_LIMITS } from "./confinement.ts";
import { usableControlGroups } from "./control-groups.ts";
import { type Interpreter, interpreters, type Language, programOn } from "./languages.ts";
import { probeConfinement } from "./probe.ts";
import { type RunOutcome, type RunTerms, runConfined } from "./run-confined.ts";
import { seccompFilter } from "./seccomp-filter.ts";
import { WorkFolder } from "./work-folder.ts";

export interface ScriptRun extends RunTerms {
  readonly language: Language;
  /** Folders of the host, below `Sandbox.folder`. */
  readonly skill: string;
  readonly input: string | null;
  /** Path within the skill. */
  readonly script: string;
  readonly args: readonly string[];
}

/**
 * Runs skill scripts, confined by bubblewrap in separate namespaces. A probe tries to break out first, beside the rest of the gateway's
 * start; nothing is run before a confinement has held, or if none holds.
 */
export class Sandbox {
  private readonly work: WorkFolder;
  private readonly languages = interpreters();
  private readonly closing = new AbortController();
  /** Null until the probe has shown that it holds. */
  private confinement: Confinement | null = null;
  private readonly probed: Promise<void>;

  constructor(env: Readonly<Record<string, string | undefined>>, log: Log) {
    const filter = seccompFilter(process.arch);
    this.work = new WorkFolder(filter);
    const bash = this.languages.get("bash");
    const confinements = bash === undefined || filter === null ? [] : confinementsOf(env, this.work);
    this.probed = this.probe(bash as Interpreter, confinements, log).catch((error: unknown) => untrusted([reasonOf(error)], log));
  }

  private async probe(bash: Interpreter, confinements: readonly Confinement[], log: Log): Promise<void> {
    const reasons: string[] = [];
    for (const confinement of confinements) {
      const reason = await probeConfinement(confinement, bash, this.work.current(), this.closing.signal);
      if (this.closing.signal.aborted) return;
      if (reason === null) {
        this.confinement = confinement;
        log.info("sandbox_ready", {
          kind: "bubblewrap",
          as_nobody: confinement.setpriv !== null,
          control_groups: confinement.controlGroups.length,
          languages: [...this.languages.keys()].join(" "),
        });
        return;
      }
      reasons.push(reason);
    }
    untrusted(reasons, log);
  }

  /** This process's folder for files of skills and inputs of runs; world-readable, because scripts run as nobody. */
  folder(): string {
    return this.work.current();
  }

  /** The confinement's name in audit rows; null if nothing can be run. */
  get kind(): string | null {
    return this.confinement === null ? null : "bubblewrap";
  }

  /** Resolves once the probe has ended. */
  async runs(language: Language): Promise<boolean> {
    await this.probed;
    return this.confinement !== null && this.languages.has(language);
  }

  run({ language, skill, input, script, args, ...terms }: ScriptRun): Promise<RunOutcome> {
    const interpreter = this.languages.get(language);
    if (this.confinement === null || interpreter === undefined) throw new Error("a script was run where nothing confines it");
    const argv = [`/skill/${script}`, ...args];
    const confinement = { ...this.confinement, filter: this.work.filterFile() };
    return runConfined(confinement, { interpreter, skill, input, argv, limits: RUN_LIMITS }, terms);
  }

  async close(): Promise<void> {
    this.closing.abort();
    await this.probed;
    this.work.remove();
  }
}

function untrusted(reasons: readonly string[], log: Log): void {
  log.warn("sandbox_unavailable", { reason: reasons.join("; ") || "bubblewrap is not installed" });
}

/** The ways to confine a process on this machine, best first: root switches to nobody if possible. */
function confinementsOf(env: Readonly<Record<string, string | undefined>>, work: WorkFolder): Confinement[] {
  const program = (name: string) => programOn(env.PATH ?? "/usr/bin:/bin", name) ?? programOn("/usr/bin:/bin", name);
  const bubblewrap = program("bwrap");
  if (bubblewrap === null || process.platform !== "linux") return [];
  const controlGroups = usableControlGroups();
  const setpriv = process.getuid?.() === 0 ? program("setpriv") : null;
  const plain: Confinement = { bubblewrap, setpriv: null, filter: work.filterFile(), controlGroups };
  // Process limits do not apply to the host's root, so that only a control group can enforce them.
  const bounded = process.getuid?.() !== 0 || controlGroups.some(({ limits }) => "pids.max" in limits);
  return [...(setpriv === null ? [] : [{ ...plain, setpriv }]), ...(bounded ? [plain] : [])];
}
