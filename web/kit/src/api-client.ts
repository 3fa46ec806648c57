import { ApiError, apiErrorOf } from "./api-error.ts";
import type { Session } from "./session.ts";

interface OperationShape {
  path?: object;
  query?: object;
  body?: unknown;
  answer: unknown;
}

/** The options of a call: exactly what its operation declares. */
type Options<Operation> = Pick<Operation, Extract<keyof Operation, "path" | "query" | "body">> & {
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
};

type Needed<Operation> = Operation extends { path: object } ? true : Operation extends { body: unknown } ? true : false;
type Arguments<Operation> = Needed<Operation> extends true ? [options: Options<Operation>] : [options?: Options<Operation>];

export interface ApiClient<Api> {
  call<Key extends keyof Api & string>(
    operation: Key,
    ...options: Arguments<Api[Key]>
  ): Promise<Api[Key] extends { answer: infer Answer } ? Answer : never>;
  /** For non-JSON content such as streams and files. Throws `ApiError` for refusals, like `call`. */
  send(path: string, init?: RequestInit): Promise<Response>;
}

function addressOf(template: string, path: object | undefined, query: object | undefined): string {
  const values = (path ?? {}) as Record<string, string>;
  const filled = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name] ?? ""));
  const given = Object.entries(query ?? {}).filter(([, value]) => value !== undefined && value !== null && value !== "");
  return given.length === 0 ? filled : `${filled}?${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}`;
}

/** A client for the signed-in user. An expired token is renewed once and the request repeated. */
export function apiClient<Api>(
  session: Session,
  unreachable: () => string,
  onRefused: (error: ApiError) => void = () => {},
): ApiClient<Api> {
  const send = async (path: string, init: RequestInit = {}): Promise<Response> => {
    const once = async (token: string | null) => {
      const headers = new Headers(init.headers);
      if (token !== null) headers.set("authorization", `Bearer ${token}`);
      for (const [name, value] of Object.entries(session.headers())) if (!headers.has(name)) headers.set(name, value);
      return fetch(path, { ...init, headers, credentials: "same-origin" });
    };
    let response: Response;
    try {
      const token = await session.token();
      response = await once(token);
      if (response.status === 401 && token !== null) {
        await response.body?.cancel();
        response = await once(await session.renew(token));
      }
    } catch (error) {
      if (error instanceof ApiError || (error as Error).name === "AbortError") throw error;
      throw new ApiError(0, new Headers(), null, unreachable());
    }
    if (!response.ok) {
      const refused = await apiErrorOf(response);
      if (refused.status === 401) session.lost();
      onRefused(refused);
      throw refused;
    }
    return response;
  };
  return {
    send,
    async call(operation, ...[options]) {
      const [method = "GET", template = ""] = operation.split(" ");
      const {
        path,
        query,
        body,
        headers = {},
        signal,
      } = (options ?? {}) as OperationShape & { headers?: Record<string, string>; signal?: AbortSignal };
      const isForm = body instanceof FormData;
      const response = await send(addressOf(template, path, query), {
        method,
        headers: { ...headers, ...(body === undefined || isForm ? {} : { "content-type": "application/json" }) },
        ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
        ...(signal === undefined ? {} : { signal }),
      });
      const media = response.headers.get("content-type") ?? "";
      if (response.status === 204) return null as never;
      return (media.includes("json") ? await response.json() : await response.blob()) as never;
    },
  };
}
