// The best split of one (node, feature) from the node's rows, by a warp: their cells are summed in
// a place of the warp's own and scanned there, and nobody else ever sees them.
//
// Macros: those of the two headers.

#include "histogram/cuda.cuh"
#include "scan/cuda.cuh"

struct Statistics {
    const int *label;
    const long long *weight, *sums;
};

// Writes `out` as `scan_cells` does, for rows[begin : end], whose statistics sum up to `total`;
// code_of(row) is a row's code. For all lanes of a warp.
template <class CodeOf>
__device__ __forceinline__ void search_rows(
    CELL *cells, int n_codes, const int *rows, int begin, int end, const Statistics &of,
    const CodeOf &code_of, const long long *total, int only, int direction, const Layout &layout,
    const Terms &terms, long long *columns, long long *out) {
    const int lane = threadIdx.x % 32, stored = statistics_of(layout) - layout.implied;
    for (int i = lane; i < n_codes * stored; i += 32) cells[i] = 0;
    __syncwarp();
    for (int at = begin + lane; at < end; at += 32) {
        const int row = rows[at];
        const long long place = (long long)code_of(row) * stored;
        add_row(cells + place, stored, row_of(of.label, of.weight, of.sums, row));
    }
    __syncwarp();
    scan_cells(Cells{cells, stored}, total, n_codes, only, direction, layout, terms, columns, out);
    __syncwarp();
}
