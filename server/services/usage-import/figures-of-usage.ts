import { createHash } from "node:crypto";
import type { takeImportStep } from "../../directory/usage-import/import-progress.ts";
import type { UsageItem, UsageWindow } from "../../upstreams/usage/usage-vendor.ts";

type Figure = Parameters<typeof takeImportStep>[2]["figures"][number];

/**
 * The figures of a page, without duplicates: items that differ only in something the vendor does not report are summed. Items outside the
 * requested window are dropped, because they would never be read again.
 */
export function figuresOfUsage(items: readonly UsageItem[], { from, to }: UsageWindow, completeBefore: number): Figure[] {
  const figures = new Map<string, Figure>();
  for (const [name, item] of summed(items)) {
    if (item.start < from || item.start >= to) continue;
    const hash = digestOf(item.dimensions);
    const { model, key, project, requests, input, cached, output, currency } = item;
    const figure = {
      model: short(model),
      key_id: short(key),
      project: short(project),
      requests,
      input_tokens: input,
      cached_tokens: cached,
      output_tokens: output,
      cost_nano: item.costNano?.toString() ?? null,
      currency,
    };
    figures.set(name, {
      ...figure,
      bucket_start: item.start.toISOString(),
      bucket_seconds: item.seconds,
      dimensions_hash: hash,
      dimensions: item.dimensions,
      digest: digestOf(figure),
      provisional: item.estimated || item.start.getTime() + item.seconds * 1000 > completeBefore,
    });
  }
  return [...figures.values()];
}

function summed(items: readonly UsageItem[]): Map<string, UsageItem> {
  const sums = new Map<string, UsageItem>();
  for (const item of items) {
    const name = `${item.start.getTime()} ${digestOf(item.dimensions)}`;
    const before = sums.get(name);
    sums.set(name, before === undefined || before.currency !== item.currency ? item : sumOfTwo(before, item));
  }
  return sums;
}

function sumOfTwo(one: UsageItem, other: UsageItem): UsageItem {
  const add = (name: "requests" | "input" | "cached" | "output") => (one[name] === null ? other[name] : one[name] + (other[name] ?? 0));
  return {
    ...one,
    requests: add("requests"),
    input: add("input"),
    cached: add("cached"),
    output: add("output"),
    costNano: one.costNano === null ? other.costNano : one.costNano + (other.costNano ?? 0n),
    estimated: one.estimated || other.estimated,
  };
}

const short = (text: string | null) => text?.slice(0, 500) ?? null;

/** Sorted by name, so that equal records have equal digests. */
function digestOf(record: Readonly<Record<string, unknown>>): string {
  const sorted = Object.entries(record).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return createHash("sha256").update(JSON.stringify(sorted)).digest("hex");
}
