import type { ReactNode } from "react";
import { Button } from "./button.tsx";
import type { PagedList } from "./paged-list.ts";

/** Loads the next page of a paged list; renders nothing if there is none. */
export function MoreButton({ list, label }: { readonly list: PagedList; readonly label: string }): ReactNode {
  if (!list.hasNextPage) return null;
  return (
    <div>
      <Button busy={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
        {label}
      </Button>
    </div>
  );
}
