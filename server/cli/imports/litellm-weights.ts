import type { Deployment } from "./litellm-deployment.ts";

const MAX = 1_000_000;

/**
 * The weights of a public name's deployments; null for the default. LiteLLM's simple shuffle uses the first of weight, requests and tokens
 * per minute that the first deployment has; its weights may be fractions, here they are integers.
 */
export function weighed(deployments: readonly Deployment[], isOrdered: boolean, strategy: string): (number | null)[] {
  if (isOrdered) {
    const highest = Math.max(0, ...deployments.map(({ order }) => order ?? 0));
    return deployments.map(({ order }) => Math.max(1, highest - (order ?? highest) + 1));
  }
  const by = strategy === "simple-shuffle" ? (deployments[0]?.weights.findIndex((weight) => weight !== null) ?? -1) : -1;
  const given = deployments.map(({ weights }) => (by < 0 ? null : Math.max(0, weights[by] ?? 0)));
  const known = given.filter((weight) => weight !== null);
  const most = Math.max(0, ...known);
  if (deployments.length < 2 || most === 0 || known.every((weight) => weight === most)) return given.map(() => null);
  return given.map((weight) => (weight === null ? null : scaled(weight, known)));
}

/** Scales a weight to an integer, in proportion to all. */
export function scaled(weight: number, all: readonly number[]): number {
  const most = Math.max(...all);
  const factor = [1, 10, 100, 1_000].find((by) => all.every((one) => Number.isInteger(Math.round(one * by * 1e6) / 1e6))) ?? 1_000;
  const whole = Math.round(weight * Math.min(factor, MAX / most));
  // A non-zero share stays non-zero: 0 means that it is used only if no other is available.
  return weight === 0 ? 0 : Math.max(1, Math.min(MAX, whole));
}
