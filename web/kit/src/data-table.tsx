import { useVirtualizer } from "@tanstack/react-virtual";
import { clsx } from "clsx";
import { ArrowDown, ArrowUp } from "lucide-react";
import { type KeyboardEvent, memo, type PointerEvent, type ReactNode, useEffect, useRef } from "react";

export interface Column<Row> {
  readonly id: string;
  readonly header: string;
  readonly cell: (row: Row) => ReactNode;
  /** A `grid-template-columns` width, such as `minmax(8rem, 2fr)`. */
  readonly width?: string;
  readonly align?: "end";
  /** Whether rows can be sorted by this column. */
  readonly sorts?: boolean;
}

export interface TableSort {
  readonly id: string;
  readonly descending: boolean;
}

interface DataTableProps<Row> {
  /** Accessible name of the table. */
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly rowKey: (row: Row) => string;
  /** Total number of rows, if more than `rows`. */
  readonly total?: number;
  readonly sort?: TableSort;
  readonly onSort?: (sort: TableSort) => void;
  readonly selected?: string | null;
  /** Called on click, Enter, and J or K, which move down and up. */
  readonly onSelect?: (row: Row) => void;
  /** Called when scrolling nears the last row, to fetch more. */
  readonly onEnd?: () => void;
  readonly rowHeight?: number;
  readonly className?: string;
}

const NEAR_END = 20;

function HeaderCell<Row>({ column, sort, onSort }: { column: Column<Row> } & Pick<DataTableProps<Row>, "sort" | "onSort">): ReactNode {
  const sorted = sort?.id === column.id ? sort : null;
  const end = column.align === "end" && "justify-end text-end";
  if (column.sorts !== true || onSort === undefined)
    return (
      <div role="columnheader" className={clsx("flex items-center px-3 py-2", end)}>
        {column.header}
      </div>
    );
  const Arrow = sorted?.descending === true ? ArrowDown : ArrowUp;
  return (
    <div role="columnheader" aria-sort={sorted === null ? "none" : sorted.descending ? "descending" : "ascending"} className="flex">
      <button
        type="button"
        className={clsx("flex grow items-center gap-1 rounded px-3 py-2 hover:text-ink", end)}
        onClick={() => onSort({ id: column.id, descending: sorted !== null && !sorted.descending })}
      >
        {column.header}
        <Arrow aria-hidden size={14} className={sorted === null ? "invisible" : ""} />
      </button>
    </div>
  );
}

/** A virtualized table: only visible rows are rendered. Arrow keys or J and K move, Enter opens, Home and End jump. */
export function DataTable<Row>(props: DataTableProps<Row>): ReactNode {
  const { label, columns, rows, rowKey, total, sort, onSort, selected, onSelect, onEnd, rowHeight = 44, className } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 12,
  });
  const shown = virtual.getVirtualItems();
  const last = shown.at(-1)?.index ?? 0;
  useEffect(() => {
    if (onEnd !== undefined && rows.length > 0 && last >= rows.length - NEAR_END) onEnd();
  }, [last, rows.length, onEnd]);
  const template = columns.map(({ width }) => width ?? "minmax(6rem, 1fr)").join(" ");
  const at = selected == null ? -1 : rows.findIndex((row) => rowKey(row) === selected);

  const onKeyDown = (event: KeyboardEvent) => {
    if (onSelect === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    const next: Readonly<Record<string, number>> = {
      j: at + 1,
      ArrowDown: at + 1,
      k: at - 1,
      ArrowUp: at - 1,
      Home: 0,
      End: rows.length - 1,
    };
    const to = next[event.key];
    const row = to === undefined ? undefined : rows[Math.max(0, Math.min(rows.length - 1, to))];
    if (row === undefined) return;
    event.preventDefault();
    virtual.scrollToIndex(rows.indexOf(row));
    onSelect(row);
  };

  return (
    <div
      className={clsx("flex flex-col overflow-hidden rounded-xl border border-line bg-surface", className ?? "max-h-[min(65dvh,48rem)]")}
    >
      <div
        ref={scroller}
        role="table"
        aria-label={label}
        aria-rowcount={(total ?? rows.length) + 1}
        tabIndex={0}
        onKeyDown={onKeyDown}
        className="min-h-0 grow overflow-auto"
      >
        <div className="min-w-min">
          <div role="rowgroup" className="sticky top-0 z-10 border-b border-line bg-sunken text-xs font-semibold text-muted">
            <div role="row" aria-rowindex={1} className="grid" style={{ gridTemplateColumns: template }}>
              {columns.map((column) => (
                <HeaderCell key={column.id} column={column} sort={sort} onSort={onSort} />
              ))}
            </div>
          </div>
          <div role="rowgroup" className="relative" style={{ height: virtual.getTotalSize() }}>
            {shown.map(({ index, start, size }) => {
              const row = rows[index];
              if (row === undefined) return null;
              const key = rowKey(row);
              return (
                <TableRow
                  key={key}
                  row={row}
                  columns={columns}
                  template={template}
                  at={index + 2}
                  start={start}
                  height={size}
                  selected={key === selected}
                  onSelect={onSelect}
                />
              );
            })}
          </div>
        </div>
      </div>
    </div>
  );
}

/** Shows the full text of a truncated cell as a tooltip. */
function revealCell({ currentTarget: cell }: PointerEvent<HTMLElement>): void {
  if (cell.scrollWidth > cell.clientWidth) cell.title = cell.textContent;
  else cell.removeAttribute("title");
}

interface TableRowProps<Row> {
  readonly row: Row;
  readonly columns: readonly Column<Row>[];
  readonly template: string;
  readonly at: number;
  readonly start: number;
  readonly height: number;
  readonly selected: boolean;
  readonly onSelect: ((row: Row) => void) | undefined;
}

/** Rendered when it comes into view, and again only if its props change. */
const TableRow = memo(function TableRow<Row>({ row, columns, template, at, start, height, selected, onSelect }: TableRowProps<Row>) {
  return (
    <div
      role="row"
      aria-rowindex={at}
      aria-selected={onSelect === undefined ? undefined : selected}
      onClick={onSelect === undefined ? undefined : () => onSelect(row)}
      className={clsx(
        "absolute inset-x-0 grid items-center border-b border-line text-sm",
        onSelect !== undefined && "cursor-pointer hover:bg-sunken",
        selected && "bg-accent-soft",
      )}
      style={{ transform: `translateY(${start}px)`, height, gridTemplateColumns: template }}
    >
      {columns.map(({ id, cell, align }) => (
        <div key={id} role="cell" onPointerEnter={revealCell} className={clsx("truncate px-3", align === "end" && "text-end tabular-nums")}>
          {cell(row)}
        </div>
      ))}
    </div>
  );
}) as <Row>(props: TableRowProps<Row>) => ReactNode;
