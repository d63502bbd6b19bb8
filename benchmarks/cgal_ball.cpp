// The ball of points in DIM dimensions by CGAL's Min_sphere_of_spheres_d, as a library for
// benchmarks/solvers.py. The rows are read where they lie.
#include <CGAL/Min_sphere_of_spheres_d.h>

#include <algorithm>
#include <vector>

struct Rows {
    typedef double FT;
    typedef const double* Sphere;
    typedef const double* Cartesian_const_iterator;
    typedef CGAL::Tag_false Use_square_roots;
    typedef CGAL::Default_algorithm Algorithm;
    static const int D = DIM;
    Cartesian_const_iterator center_cartesian_begin(Sphere row) const { return row; }
    FT radius(Sphere) const { return 0.0; }
};

extern "C" double smallest_ball(const double* points, long count, double* center) {
    std::vector<const double*> rows(count);
    for (long i = 0; i < count; ++i) rows[i] = points + i * DIM;
    typedef CGAL::Min_sphere_of_spheres_d<Rows> Ball;
    // Its tables are squares of DIM: too large for a stack.
    Ball* ball = new Ball(rows.begin(), rows.end());
    std::copy(ball->center_cartesian_begin(), ball->center_cartesian_end(), center);
    double radius = ball->radius();
    delete ball;
    return radius;
}
