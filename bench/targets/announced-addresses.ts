import type { ProcessOutput } from "../processes/process-output.ts";

export interface Addresses {
  readonly runtime: string;
  readonly control: string;
}

/** The plane a line names; undefined if none. */
function planeOf(line: string): keyof Addresses | undefined {
  if (/admin|control|console/i.test(line)) return "control";
  if (/runtime|gateway|portal|base_url/i.test(line)) return "runtime";
  return undefined;
}

/** Finds both addresses in the output so far: by the plane a line names, otherwise runtime first. */
function addressesIn(text: string): Partial<Addresses> {
  const found: { runtime?: string; control?: string } = {};
  for (const line of text.split("\n")) {
    let from = 0;
    for (const match of line.matchAll(/https?:\/\/(?:127\.0\.0\.1|localhost|\[::1\]):([1-9]\d*)/g)) {
      const plane = planeOf(line.slice(from, match.index)) ?? (found.runtime === undefined ? "runtime" : "control");
      if (Object.values(found).includes(match[0]) === false) found[plane] ??= match[0];
      from = match.index + match[0].length;
    }
  }
  return found;
}

/** Resolves once both addresses have been printed. */
export function announcedAddresses(output: ProcessOutput, timeoutMs: number): Promise<Addresses> {
  const { promise, resolve, reject } = Promise.withResolvers<Addresses>();
  const timer = setTimeout(() => reject(new Error(`it printed no addresses in time: ${output.lastOutput()}`)), timeoutMs);
  output.onPrinted = () => {
    const { runtime, control } = addressesIn(output.start.slice(0, output.start.lastIndexOf("\n") + 1));
    if (runtime !== undefined && control !== undefined) resolve({ runtime, control });
  };
  void output.ended.then(() => reject(new Error(`it ended at the start: ${output.lastOutput()}`)));
  return promise.finally(() => {
    clearTimeout(timer);
    output.onPrinted = () => {};
  });
}
