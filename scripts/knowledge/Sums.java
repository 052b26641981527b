import java.util.Arrays;

/** Computes over arrays: a sieve, a product of matrices, an edit distance and virtual calls. Little is allocated. */
public class Sums {
	private interface Shape {
		double area();
	}

	private record Square(double side) implements Shape {
		public double area() {
			return side * side;
		}
	}

	private record Disc(double radius) implements Shape {
		public double area() {
			return Math.PI * radius * radius;
		}
	}

	private record Ring(double outer, double inner) implements Shape {
		public double area() {
			return Math.PI * (outer * outer - inner * inner);
		}
	}

	private static int primes(boolean[] composite) {
		Arrays.fill(composite, false);
		int found = 0;
		for (int i = 2; i < composite.length; i++) {
			if (!composite[i]) {
				found++;
				for (long j = (long) i * i; j < composite.length; j += i) {
					composite[(int) j] = true;
				}
			}
		}
		return found;
	}

	private static double product(double[][] a, double[][] b, double[][] c) {
		int n = a.length;
		for (int i = 0; i < n; i++) {
			Arrays.fill(c[i], 0);
			for (int k = 0; k < n; k++) {
				double x = a[i][k];
				for (int j = 0; j < n; j++) {
					c[i][j] += x * b[k][j];
				}
			}
		}
		return c[n / 2][n / 3];
	}

	private static int distance(byte[] a, byte[] b) {
		int[] row = new int[b.length + 1];
		for (int j = 0; j <= b.length; j++) {
			row[j] = j;
		}
		for (int i = 1; i <= a.length; i++) {
			int corner = row[0];
			row[0] = i;
			for (int j = 1; j <= b.length; j++) {
				int above = row[j];
				row[j] = Math.min(Math.min(above, row[j - 1]) + 1, corner + (a[i - 1] == b[j - 1] ? 0 : 1));
				corner = above;
			}
		}
		return row[b.length];
	}

	public static void main(String[] args) {
		int rounds = Integer.parseInt(args[0]);
		boolean[] composite = new boolean[300000];
		double[][] a = new double[120][120], b = new double[120][120], c = new double[120][120];
		byte[] one = new byte[900], two = new byte[900];
		Shape[] shapes = new Shape[3000];
		for (int i = 0; i < shapes.length; i++) {
			shapes[i] = i % 3 == 0 ? new Square(i) : i % 3 == 1 ? new Disc(i) : new Ring(i, i / 2.0);
		}
		for (int i = 0; i < 900; i++) {
			one[i] = (byte) (i * i % 7);
			two[i] = (byte) (i * 3 % 5);
		}
		for (double[] row : a) {
			Arrays.setAll(row, j -> j % 5);
		}
		for (double[] row : b) {
			Arrays.setAll(row, j -> j % 3);
		}
		double sum = 0;
		for (int round = 0; round < rounds; round++) {
			sum += primes(composite) + product(a, b, c) + distance(one, two);
			for (Shape s : shapes) {
				sum += s.area();
			}
			one[round % 900]++;
		}
		System.out.println(sum);
	}
}
