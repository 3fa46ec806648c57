import type { ProviderRequest, ProviderTarget } from "../../../server/upstreams/providers/provider.ts";

/** A request as received. */
export interface VendorRequest {
  readonly method: string;
  /** Path and query, still encoded. */
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: string;
}

export interface FakeVendor {
  readonly origin: string;
  readonly seen: VendorRequest[];
  stop(): Promise<void>;
}

/** A server that records every request and answers as scripted. */
export function fakeVendor(answer: (request: VendorRequest) => Response | Promise<Response> = () => Response.json({})): FakeVendor {
  const seen: VendorRequest[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const path = request.url.slice(new URL(request.url).origin.length);
      const arrived = { method: request.method, path, headers: Object.fromEntries(request.headers), body: await request.text() };
      seen.push(arrived);
      return answer(arrived);
    },
  });
  return { origin: `http://127.0.0.1:${server.port}`, seen, stop: () => server.stop(true) };
}

export function vendorTarget(apiFormat: ProviderTarget["apiFormat"], given: Partial<ProviderTarget>): ProviderTarget {
  return {
    providerKey: "vendor",
    apiFormat,
    baseUrl: "https://vendor.example",
    apiKey: "key-1",
    headers: {},
    region: null,
    modelName: "model-1",
    ...given,
  };
}

export function vendorRequest(operation: ProviderRequest["operation"], given: Partial<ProviderRequest> = {}): ProviderRequest {
  return { operation, body: '{"a": 1}', stream: false, headers: {}, abort: new AbortController(), timeoutMs: 5_000, ...given };
}
