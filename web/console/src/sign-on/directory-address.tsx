import { CopyButton } from "@gatehouse/web-kit/copy-button.tsx";
import { Facts, Panel } from "@gatehouse/web-kit/page.tsx";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";

/** The SCIM address to enter in a directory, and a link to the log of its changes. */
export function DirectoryAddress(): ReactNode {
  const address = `${location.origin}/scim/v2`;
  return (
    <Panel title="What to enter at the directory">
      <div className="grid grid-cols-1 gap-3">
        <Facts
          items={[
            [
              "Base URL (SCIM 2.0)",
              <span key="address" className="flex items-center gap-2">
                <code className="min-w-0 font-mono text-xs break-all">{address}</code>
                <CopyButton text={address} label="Copy the base URL" doneLabel="Copied" />
              </span>,
            ],
            ["Authentication", "OAuth bearer token: the token that was shown once when it was made"],
            ["Unique field", "userName"],
          ]}
        />
        <p>
          <Link to="/provisioning-log" className="text-accent underline">
            What directories changed
          </Link>
        </p>
      </div>
    </Panel>
  );
}
