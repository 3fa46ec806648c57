import { ErrorState, Skeleton } from "@gatehouse/web-kit/states.tsx";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { PlaneDocument } from "./document/api-document.ts";
import { ReferencePages } from "./reference-pages.tsx";

async function readDocument(): Promise<PlaneDocument> {
  const response = await fetch("/openapi.json");
  if (!response.ok) throw new Error(`The gateway answered ${response.status}. Load the page again.`);
  return (await response.json()) as PlaneDocument;
}

/** The API reference of the plane that serves this page, rendered from the plane's own document. */
export function ReferenceApp(): ReactNode {
  const { data, error, refetch } = useQuery({ queryKey: ["document"], queryFn: readDocument, staleTime: Number.POSITIVE_INFINITY });
  if (data !== undefined) return <ReferencePages document={data} />;
  return (
    <main className="mx-auto max-w-3xl px-4 pt-24">
      {error === null ? (
        <Skeleton label="Loading" lines={6} />
      ) : (
        <ErrorState
          error={error}
          title="The description of the API could not be read"
          requestLabel="Request"
          retry={{ label: "Try again", run: () => void refetch() }}
        />
      )}
    </main>
  );
}
