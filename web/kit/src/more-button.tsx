import type { ReactNode } from "react";
import { Button } from "./button.tsx";
import type { PagedList } from "./paged-list.ts";

/** Below a list that is read page by page: reads the next one; nothing where there is none. */
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
