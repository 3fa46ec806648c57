import { z } from "zod";
import { isWebAddress } from "../http/web-address.ts";

/** An OpenTelemetry collector (OTLP over HTTP with JSON). */
export interface Collector {
  /** Without a trailing slash; `/v1/traces` and `/v1/metrics` are appended. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly serviceName: string;
  /** Share of traces that are sent, from 0 to 1. */
  readonly sampled: number;
}

export const collectorUrl = z
  .string()
  .refine(isWebAddress, "must be an address such as http://collector.example:4318")
  .transform((value) => value.replace(/\/+$/, ""));

const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

export const collectorHeaders = z.string().transform((value, ctx) => {
  const headers: Record<string, string> = {};
  for (const pair of value.split(",").filter((one) => one.trim() !== "")) {
    const at = pair.indexOf("=");
    const name = pair.slice(0, at).trim();
    const read = at === -1 ? undefined : decoded(pair.slice(at + 1).trim());
    if (read === undefined || !NAME.test(name) || /[^\t\x20-\x7e]/.test(read)) {
      ctx.addIssue({ code: "custom", message: "must be a comma list of name=value, percent-encoded" });
      return z.NEVER;
    }
    headers[name] = read;
  }
  return headers;
});

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
