import { TextField } from "@gatehouse/web-kit/field.tsx";
import type { ReactNode } from "react";
import type { PageCaller } from "./use-caller.ts";

/** The credential for requests: a typed key, or the session of the plane's own pages. */
export function CredentialField({ caller }: { readonly caller: PageCaller }): ReactNode {
  const { typed, type, signedInAs, app, home } = caller;
  return (
    <div className="grid grid-cols-1 gap-2">
      <TextField
        label={app === "console" ? "Admin token" : "API key or portal token"}
        hint="It stays in this page's memory, and is gone when the page is."
        type="password"
        autoComplete="off"
        spellCheck={false}
        value={typed}
        onChange={(event) => type(event.currentTarget.value)}
      />
      <p className="text-sm text-muted">
        {signedInAs !== null ? (
          `Left empty, requests go out as ${signedInAs}, who is signed in at the ${app}.`
        ) : (
          <>
            Or{" "}
            <a href={home} target="_blank" rel="noopener" className="text-accent underline">
              sign in at the {app}
            </a>{" "}
            and come back.
          </>
        )}
      </p>
    </div>
  );
}
