import type { Arguments } from "./arguments.ts";
import type { Case } from "./cases/case.ts";
import { LoadClient } from "./load/load-client.ts";
import { compare, type Pace } from "./measure/comparison.ts";
import { soak } from "./measure/soak.ts";
import type { Results } from "./report/baseline.ts";
import { summarise } from "./report/summary.ts";
import { showCase } from "./report/table.ts";
import { startBare } from "./targets/bare.ts";
import { startDirect } from "./targets/direct.ts";
import { startGatehouse, startRelaxed, startUnrecorded } from "./targets/gatehouse.ts";
import { startLiteLlm } from "./targets/litellm.ts";
import { startPeer } from "./targets/peer.ts";
import { type Endpoint, type StartTarget, type Target, type TargetName, USUAL_TARGETS } from "./targets/target.ts";
import { Upstream } from "./upstream/upstream.ts";

const STARTS: Readonly<Record<TargetName, StartTarget>> = {
  direct: startDirect,
  bare: startBare,
  gatehouse: startGatehouse,
  relaxed: startRelaxed,
  unrecorded: startUnrecorded,
  peer: startPeer,
  litellm: startLiteLlm,
};

/** Third-party gateways, which may not be installed. */
const PEERS: ReadonlySet<string> = new Set(["peer", "litellm"] satisfies TargetName[]);

const FULL: Pace = { rounds: 5, warmUpMs: 400, measureMs: 2_000, settleInMs: 10_000, firstWarmUpMs: 1_500 };
const QUICK: Pace = { rounds: 2, warmUpMs: 200, measureMs: 700, settleInMs: 700, firstWarmUpMs: 700 };
const QUICK_SOAK_CALLS = 40_000;

export interface Outcome {
  readonly results: Results;
  /** One line per failure. A missing peer is not a failure. */
  readonly failures: readonly string[];
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

async function startTargets(names: readonly TargetName[], upstream: Upstream, failures: string[]): Promise<Target[]> {
  const targets: Target[] = [];
  for (const name of names) {
    try {
      targets.push(await STARTS[name](upstream));
    } catch (error) {
      const line = `${name} did not start: ${messageOf(error)}`;
      console.log(PEERS.has(name) ? `${line} (going on without it)` : line);
      if (!PEERS.has(name)) failures.push(line);
    }
  }
  return targets;
}

/** Runs the cases one after the other until `deadline` (ms since the epoch). */
export async function runBenchmark(cases: ReadonlyMap<string, Case>, options: Arguments, deadline: number): Promise<Outcome> {
  const failures: string[] = [];
  const results: Record<string, Results[string]> = {};
  const needed = options.targets.filter((name) =>
    [...cases.values()].some((it) => (it.kind === "soak" ? it.target === name : (it.targets ?? USUAL_TARGETS).includes(name))),
  );
  const pace = { ...(options.quick ? QUICK : FULL), ...(options.rounds !== undefined && { rounds: options.rounds }) };

  const upstream = await Upstream.start();
  const client = new LoadClient();
  const targets = await startTargets(needed, upstream, failures);

  const fresh = new Set(targets);
  let left = cases.size;
  for (const [name, it] of cases) {
    // Splits the remaining time evenly, so that a slow case does not use up the share of later ones.
    const caseDeadline = Date.now() + (deadline - Date.now()) / left--;
    const wanted = targets.filter((target) =>
      it.kind === "soak" ? it.target === target.name : (it.targets ?? USUAL_TARGETS).includes(target.name),
    );
    try {
      // A tool server is probed at registration, so the upstream must already answer as one.
      await upstream.answerWith(it.call.upstream);
      const entrances = new Map<Target, Endpoint>();
      for (const target of wanted) {
        try {
          entrances.set(target, await target.prepare({ name, call: it.call, ...(it.configure && { configure: it.configure }) }));
        } catch (error) {
          failures.push(`${name}: ${target.name} cannot be prepared, ${messageOf(error)}`);
        }
      }
      if (it.kind === "soak") {
        const [entry] = entrances;
        if (!entry) continue;
        const calls = options.quick ? Math.min(it.calls, QUICK_SOAK_CALLS) : it.calls;
        console.log(`\n${name}: ${calls} calls, ${it.connections} connections`);
        const result = await soak(it, ...entry, client, upstream, calls, caseDeadline);
        console.log(
          `  slope per ${it.sampleEvery} calls: first quarter ${result.firstQuarterSlope.toFixed(2)} MB, last quarter ${result.lastQuarterSlope.toFixed(2)} MB; ${result.requestsPerSecond.toFixed(0)} requests/s`,
        );
        results[name] = result;
      } else if (entrances.size > 0) {
        const { rounds, failed } = await compare(it, entrances, client, upstream, pace, caseDeadline, fresh);
        results[name] = summarise(rounds, it);
        console.log(showCase(name, results[name]));
        for (const [target, reason] of failed) {
          console.log(`  ${target} left out, ${reason}`);
          if (!PEERS.has(target)) failures.push(`${name}: ${target}, ${reason}`);
        }
      }
    } catch (error) {
      failures.push(`${name}: ${messageOf(error)}`);
      console.log(`\n${name}: ${messageOf(error)}`);
    }
  }
  for (const target of targets) {
    const epitaph = target.exitReport?.();
    if (epitaph !== undefined) failures.push(`${target.name}: ${epitaph}`);
  }
  return { results, failures };
}
